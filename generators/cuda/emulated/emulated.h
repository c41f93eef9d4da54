// A program of kernels on the CPU: each kernel's text compiled over the emulating prelude and run under the checker, one after the other.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "generators/cuda/emulator/compiled.h"
#include "generators/cuda/emulator/launch.h"
#include "generators/cuda/lower.h"

namespace kiln::generators::cuda {

class Emulated {
 public:
  // Compiles every kernel. Throws emulator::CompilerMissing, and std::runtime_error with the compiler's words.
  explicit Emulated(const Program& program);

  // Dense arrays by argument, as declared: inputs are read, outputs written. `scalars`: eight bytes each with the value in its own type.
  struct Call {
    std::map<std::string, std::vector<std::byte>> inputs, outputs;
    std::map<std::string, std::vector<std::byte>> scalars;
  };

  // What went wrong first, with the kernel's name before the emulator's words; empty: nothing, and every output is written whole. `seed` chooses how
  // threads and asynchronous operations take turns.
  std::string run(Call& call, unsigned seed) const;

  // The arithmetic of the launch that run() makes of each kernel: blocks, threads, shared memory.
  static emulator::Launch launch_of(const StreamPlan& plan, unsigned seed);

 private:
  const Program& program_;
  std::vector<emulator::Compiled> compiled_;
};

}  // namespace kiln::generators::cuda
