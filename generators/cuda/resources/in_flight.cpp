#include "generators/cuda/resources/in_flight.h"

#include <cmath>

#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda::resources {

std::optional<InFlight> in_flight(const LoadPattern& pattern, double latency_ns, const Gpu& gpu) {
  if (gpu.memory_bytes_per_s == 0) return std::nullopt;
  const std::int64_t warp_bytes = std::int64_t{pattern.loads_per_thread} * pattern.load_bytes * gpu.warp_threads;
  InFlight result;
  result.needed_bytes = static_cast<double>(gpu.memory_bytes_per_s) * latency_ns * 1e-9 / gpu.sms;
  result.bytes = pattern.warps * warp_bytes;
  result.warps_needed = static_cast<std::int64_t>(std::ceil(result.needed_bytes / static_cast<double>(warp_bytes)));
  result.blocks_needed = divided_up(result.warps_needed, pattern.block_warps);
  return result;
}

}  // namespace kiln::generators::cuda::resources
