// When a report alone is reason enough not to go on. Both limits only stop what no machine would want; speed is for the measurement to judge.
#include <cstdint>

#include <fmt/format.h>

#include "generators/host/host.h"

namespace kiln::generators::host {
namespace {

// Scratch beyond this for each usable core: twice what a general-purpose cloud machine has (4 GiB a vCPU), so that such a candidate would be
// measured while the machine swaps or be killed.
constexpr std::int64_t kScratchBytesPerCore = std::int64_t{8} << 30;

// Spills inside loops are a cost, not a fault: a form that spills can still be the fastest. This many stores for each vector register of the machine
// means that the loop body is mostly saving and restoring: see the spill table in the tests' notes on matmul tiles.
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
