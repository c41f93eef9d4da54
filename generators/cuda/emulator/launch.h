// Runs a kernel's text, compiled for the host over the emulating prelude (device/), and checks what the hardware would not: deadlock, races between
// threads and asynchronous copies, missing proxy fences, bounds, alignment, uninitialised bytes. No GPU is needed to know that a kernel is right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generators/cuda/emulator/memory.h"

namespace kiln::generators::cuda::emulator {

// A compiled kernel; arguments as for cuLaunchKernel.
using Entry = void (*)(void** arguments);

// Names a part of shared memory in messages: `count` objects, `stride` bytes apart.
struct Label {
  std::string name;
  std::uint32_t offset = 0, stride = 0, count = 1;
};

// What can be emulated at once.
inline constexpr unsigned kMostBlocks = 64, kMostThreads = 16384, kMostSharedBytes = 232448;  // sm_90 has 227 KiB for a block

struct Launch {
  unsigned grid = 1, cluster = 1, threads = 128;  // blocks; blocks of a cluster; threads of a block, whole warps
  unsigned shared_bytes = 0;
  unsigned blocks_per_sm = 1;    // as __launch_bounds__ demands: how many registers setmaxnreg can move
  unsigned seed = 1;             // seed % 4: asynchronous operations mixed, as late as can be, at once, mixed; seed / 4 % 4: how often threads yield
  bool is_dependent = false;     // launched with programmatic serialization: griddepcontrol.wait is needed
  std::vector<Label> labels = {};
};

struct Report {
  std::string kind;  // "race", "deadlock", "unfenced", …; empty: no fault
  std::string text;  // the kind, what happened, and where
  std::uint64_t switches = 0, async_operations = 0, wgmmas = 0;

  bool ok() const { return kind.empty(); }
};

// Runs to the end or to the first fault. The same kernel, inputs and seed give the same run. Throws std::invalid_argument beyond the limits. One launch at a time in a process.
Report run(const Launch& launch, Memory& memory, Entry entry, void** arguments);

}  // namespace kiln::generators::cuda::emulator
