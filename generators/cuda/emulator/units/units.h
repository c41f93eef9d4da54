// What one unit of the emulated machine asks of another. A unit is a file that defines some functions of the prelude.
#pragma once

#include <cstdint>

#include "generators/cuda/emulator/machine/machine.h"

namespace kiln::generators::cuda::emulator {

// ---- mbarriers.cpp
// The barrier that an instruction names, if the thread may know that it is initialised. `by_async`: TMA will complete on it.
// Faults: "no mbarrier", "exited block", "race", "unfenced".
Mbarrier& usable_mbarrier(std::uint32_t address, const Thread& thread, bool by_async);
// The bytes of a load that was issued in `phase` on that line have come. The fault: "transaction", when the barrier has gone on without them.
void land(Mbarrier& mbarrier, std::uint32_t phase, std::uint32_t bytes, int line);

// ---- clusters.cpp
// A thread that has ended is not waited for.
void leave_cluster(Thread& thread);

// ---- copy_groups.cpp
enum class Copies { stores, asyncs };  // bulk stores; cp.async
// The group that an operation issued now belongs to, counted from 0; the operation is in flight from now on.
std::uint32_t open_copy(Thread& thread, Copies which);
void close_copy(Thread& thread, Copies which, std::uint32_t group);
CopyGroups& groups_of(Thread& thread, Copies which);

}  // namespace kiln::generators::cuda::emulator
