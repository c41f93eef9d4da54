// Whether enough loads are under way to keep the memory busy: bandwidth times latency must be in flight, or the memory waits for the SMs.
#pragma once

#include <cstdint>
#include <optional>

#include "dsl/device.h"

namespace kiln::generators::cuda::resources {

// Loads from memory by the warps of one SM.
struct LoadPattern {
  std::int64_t warps = 0;        // resident on the SM (residency.h)
  int block_warps = 0;           // of one block
  int loads_per_thread = 1;      // issued before the first is waited for
  int load_bytes = 16;           // of one thread's load; 16 is the widest
};

struct InFlight {
  double needed_bytes = 0;       // on each SM
  std::int64_t bytes = 0;        // that the pattern has under way
  std::int64_t warps_needed = 0, blocks_needed = 0;  // of this pattern

  double cover() const { return static_cast<double>(bytes) / needed_bytes; }  // below 1 the memory is not kept busy
};

// `latency_ns` is that of a load under load; each SM answers for an equal part of the bandwidth. Nothing when the bandwidth is not known.
std::optional<InFlight> in_flight(const LoadPattern& pattern, double latency_ns, const Gpu& gpu);

}  // namespace kiln::generators::cuda::resources
