// When a report alone is reason enough not to go on. Both limits only stop what no machine would want; speed is for the measurement to judge.
#include <cstdint>

#include <fmt/format.h>

#include "generators/host/host.h"

namespace kiln::generators::host {
namespace {

// Scratch beyond this for each usable core: twice what a general-purpose cloud machine has (4 GiB a vCPU), so that such a candidate would be
// measured while the machine swaps or be killed.
constexpr std::int64_t kScratchBytesPerCore = std::int64_t{8} << 30;

// Spills are a cost, not a fault. A 1020 x 1024 x 1024 product with tiles of vectors x rows, on a Sapphire Rapids core with 32 registers:
//   tile                 4x6   4x7   4x8   4x16   8x16   8x24
//   stores in the loop     0     2     8     45    108    173
//   speed               1.00  0.98  0.77   0.45   0.38   0.23
// and a large pipeline has many loops that spill a little each. So the limit only stops code that does little else.
constexpr std::int64_t kLoopStoresPerRegister = 64;

std::string gib(std::int64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(std::int64_t{1} << 30)); }

}  // namespace

std::optional<Rejection> prune(const Predicted& report, const Device& device) {
  const std::int64_t allowed = kScratchBytesPerCore * device.cores;
  if (!report.peak_intermediate_bytes || *report.peak_intermediate_bytes <= allowed) return std::nullopt;
  const std::int64_t asked = *report.peak_intermediate_bytes;
  return Rejection{Reason::over_scratch, static_cast<double>(asked), static_cast<double>(allowed),
                   fmt::format("intermediate results need {} at once; {} cores are given at most {}", gib(asked), device.cores, gib(allowed))};
}

std::optional<Rejection> prune(const Actual& report, const Device& device) {
  const std::int64_t allowed = kLoopStoresPerRegister * device.vector_registers;
  if (report.loop_stack_stores <= allowed) return std::nullopt;
  return Rejection{Reason::spills, static_cast<double>(report.loop_stack_stores), static_cast<double>(allowed),
                   fmt::format("{} instructions inside innermost loops store to the stack; with {} vector registers at most {} make sense",
                               report.loop_stack_stores, device.vector_registers, allowed)};
}

}  // namespace kiln::generators::host
