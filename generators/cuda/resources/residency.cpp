#include "generators/cuda/resources/residency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda::resources {

std::string_view print(Limit limit) {
  constexpr std::array<std::string_view, 5> kWords{"threads", "registers", "shared memory", "blocks", "barriers"};
  return kWords[static_cast<std::size_t>(limit)];
}

Residency residency(const BlockNeeds& needs, const Gpu& gpu) {
  const std::int64_t warps = divided_up(needs.threads, gpu.warp_threads);
  const std::int64_t warp_registers = rounded_up(std::max(needs.registers, 1), gpu.register_step) * gpu.warp_threads;
  const std::int64_t warps_of_partition = gpu.sm_registers / gpu.sm_partitions / warp_registers;
  const std::int64_t shared_bytes = rounded_up(needs.shared_bytes + gpu.reserved_shared_bytes, std::max<std::int64_t>(gpu.shared_step_bytes, 1));

  Residency result;
  result.by_threads = gpu.sm_threads / (warps * gpu.warp_threads);
  result.by_registers = warps_of_partition * gpu.sm_partitions / warps;
  result.by_shared_bytes = gpu.sm_shared_bytes / shared_bytes;
  result.by_blocks = gpu.sm_blocks;
  result.by_barriers = gpu.sm_barriers / std::max(needs.barriers, 1);
  const std::array<std::int64_t, 5> limits{result.by_threads, result.by_registers, result.by_shared_bytes, result.by_blocks, result.by_barriers};
  result.blocks = *std::min_element(limits.begin(), limits.end());
  for (std::size_t i = 0; i < limits.size(); ++i)
    if (limits[i] == result.blocks) result.binds.push_back(static_cast<Limit>(i));
  result.warps = result.blocks * warps;
  result.occupancy = static_cast<double>(result.warps) / gpu.sm_warps();
  return result;
}

std::optional<Rejection> find_oversized(const BlockNeeds& needs, const Gpu& gpu) {
  if (needs.threads > gpu.block_threads)
    return beyond(Reason::over_threads, needs.threads, gpu.block_threads,
                  fmt::format("a block has {} threads; one block may have {}", grouped(needs.threads), grouped(gpu.block_threads)));
  if (needs.registers > gpu.thread_registers)
    return beyond(Reason::over_registers, needs.registers, gpu.thread_registers,
                  fmt::format("a thread needs {} registers; one thread may have {}", needs.registers, gpu.thread_registers));
  // The hardware counts as if a warp stood in every partition (cuda_occupancy.h).
  const std::int64_t warps = rounded_up(divided_up(needs.threads, gpu.warp_threads), gpu.sm_partitions);
  const std::int64_t registers = warps * gpu.warp_threads * rounded_up(needs.registers, gpu.register_step);
  if (registers > gpu.block_registers)
    return beyond(Reason::over_registers, registers, gpu.block_registers,
                  fmt::format("{} threads of {} registers need {}; one block may have {}: at most {} a thread", needs.threads, needs.registers,
                              grouped(registers), grouped(gpu.block_registers),
                              rounded_down(gpu.block_registers / (warps * gpu.warp_threads), gpu.register_step)));
  if (needs.shared_bytes > gpu.block_shared_bytes)
    return beyond(Reason::over_shared, needs.shared_bytes, gpu.block_shared_bytes,
                  fmt::format("a block needs {} bytes of shared memory; one block may use {}", grouped(needs.shared_bytes), grouped(gpu.block_shared_bytes)));
  return std::nullopt;
}

std::int64_t shared_bytes_of_a_block(const Gpu& gpu, int blocks_per_sm) {
  const std::int64_t share = rounded_down(gpu.sm_shared_bytes / blocks_per_sm, std::max<std::int64_t>(gpu.shared_step_bytes, 1));
  return std::min(gpu.block_shared_bytes, share - gpu.reserved_shared_bytes);
}

}  // namespace kiln::generators::cuda::resources
