#include "generators/cuda/predict.h"

#include <fmt/format.h>

#include <limits>

#include "generators/cuda/register_model.h"
#include "generators/cuda/resources/residency.h"
#include "generators/cuda/resources/spelling.h"
#include "generators/cuda/resources/waves.h"
#include "generators/cuda/ring_limits.h"

namespace kiln::generators::cuda {
namespace {

constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();  // of a grid along x: CUDA C++ Programming Guide, "Technical Specifications"

}  // namespace

KernelResources with_residency(KernelResources known, const KernelPlan& plan, const Gpu& gpu) {
  const resources::BlockNeeds needs{plan.threads(), static_cast<int>(known.registers), known.shared_bytes, plan.barriers()};
  const resources::Residency residency = resources::residency(needs, gpu);
  known.blocks_per_sm = residency.blocks;
  known.occupancy = residency.occupancy;
  // Blocks that go on take a turn for each of their tiles.
  const std::int64_t turns = plan.ring() != nullptr ? plan.ring()->tiles() * plan.ring()->parts : known.blocks;
  if (residency.blocks > 0) known.waves = resources::waves(turns, residency.blocks, gpu).waves;
  known.bytes_in_flight = residency.blocks * plan.bytes_in_flight_of_a_block();
  return known;
}

KernelResources predict(const Kernel& kernel, const Gpu& gpu) {
  const RegisterEstimate registers = kernel.plan.ring() != nullptr ? estimate_registers(*kernel.plan.ring(), gpu) : estimate_registers(*kernel.plan.stream(), gpu);
  KernelResources resources;
  resources.name = kernel.text.name;
  resources.threads = kernel.plan.threads();
  resources.blocks = kernel.plan.blocks(gpu.sms);
  resources.registers = registers.registers;
  resources.spill_bytes = registers.spills ? 9 : 0;
  resources.shared_bytes = kernel.plan.shared_bytes();
  return with_residency(resources, kernel.plan, gpu);
}

std::optional<Rejection> find_unfit(const Program& program, const Gpu& gpu) {
  for (const Kernel& kernel : program.kernels) {
    if (kernel.plan.ring() == nullptr) continue;
    auto rejection = find_unfit(*kernel.plan.ring(), gpu);
    if (!rejection) continue;
    rejection->text = kernel.text.name + ": " + rejection->text;
    return rejection;
  }
  return std::nullopt;
}

std::optional<Rejection> find_oversized(const std::vector<KernelResources>& kernels, const Gpu& gpu) {
  for (const KernelResources& kernel : kernels) {
    auto rejection = resources::find_oversized({static_cast<int>(kernel.threads), static_cast<int>(kernel.registers), kernel.shared_bytes, 1}, gpu);
    if (!rejection && kernel.blocks > kMostBlocks)
      rejection = resources::beyond(Reason::over_grid, kernel.blocks, kMostBlocks,
                                    fmt::format("needs {} blocks; a grid has {} at most", resources::grouped(kernel.blocks), resources::grouped(kMostBlocks)));
    if (!rejection) continue;
    rejection->text = kernel.name + ": " + rejection->text;
    return rejection;
  }
  return std::nullopt;
}

}  // namespace kiln::generators::cuda
