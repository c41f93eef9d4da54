// Instructions at which the 32 lanes of a warp meet.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "generators/cuda/emulator/machine/fault.h"

namespace kiln::generators::cuda::emulator {

inline Thread& lane_of(const Thread& thread, unsigned lane) { return machine().threads[thread.agent - thread.lane() + lane]; }

// Each lane brings values; the last one that comes computes for all with last(warp); then all go on. Memory is not ordered by it. Returns the warp,
// where each lane finds its own results. The fault: "divergence", when lanes of the warp are at another instruction.
template <class Last>
Warp& meet(Thread& thread, std::initializer_list<std::uint64_t> values, Last last) {
  Warp& warp = thread.warp();
  if (warp.arrived > 0 && (warp.instruction != thread.instruction || warp.line != thread.line))
    fail("divergence", "%s, while %u lanes of its warp are at line %d (%s)", describe(thread).c_str(), warp.arrived, warp.line, warp.instruction);
  warp.instruction = thread.instruction;
  warp.line = thread.line;
  std::copy(values.begin(), values.end(), warp.values[thread.lane()]);
  if (++warp.arrived < 32) {
    wait_in(warp.waiting, {Wait::For::warp, &warp, 0});
    return warp;
  }
  warp.arrived = 0;
  last(warp);
  wake(warp.waiting);
  return warp;
}

}  // namespace kiln::generators::cuda::emulator
