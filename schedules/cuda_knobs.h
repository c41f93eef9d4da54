// What the spaces of the CUDA back end share: knobs that say how a kernel touches memory and is launched, and how they print.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/schedule.h"
#include "schedules/space.h"

namespace kiln::schedules {

// Threads of a block are a matter of 1 % from 128 to 512; 64 took 1.7 times as long (an H200, 534 MB of bf16).
inline constexpr std::int64_t kMostThreadsOfBlock = 1024;

struct MemoryKnobs {
  WordKnob loads, stores;
  WordKnob launch;  // "plain"; "dependent": while the kernel before still runs
};
// A device that has no such launches has one word for them.
MemoryKnobs declare_memory_knobs(Space& space, const Device& gpu);

bool has_dependent_launches(const Device& gpu);
// Those of the cluster sizes that the device has; 1, no cluster, always.
std::vector<std::int64_t> cluster_sizes(const Device& gpu, std::vector<std::int64_t> sizes);

// `is_first`: of a program of several kernels. It is launched plainly whatever the knob says: what it writes was read, past the caches' coherence, by the
// kernels of the call before, and they must have ended before those that read it again begin.
void add_memory(Chain& chain, const MemoryKnobs& knobs, const Point& p, bool is_first = false);

// Elements of 16 bytes of the widest argument: what one access of a thread takes. Prefetching further, or accesses of 32 bytes, gained nothing.
std::int64_t access_elements(const Algorithm& algorithm);

}  // namespace kiln::schedules
