// A program of kernels on the CPU: each kernel's text compiled over the emulating prelude and run under the checker, one after the other.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "generators/cuda/emulator/compiled.h"
#include "generators/cuda/emulator/launch.h"
#include "generators/cuda/launch_record.h"

namespace kiln::generators::cuda {

class Emulated {
 public:
  // Compiles every kernel of the record, whose text `text` is. Throws emulator::CompilerMissing, and std::runtime_error with the compiler's words.
  Emulated(const std::string& text, LaunchRecord record);

  const LaunchRecord& record() const { return record_; }

  // Dense arrays by argument, as declared: inputs are read, outputs written. `scalars`: eight bytes each with the value in its own type.
  struct Call {
    std::map<std::string, std::vector<std::byte>> inputs, outputs;
    std::map<std::string, std::vector<std::byte>> scalars;
    Extents extents;
  };

  // What went wrong first, with the kernel's name before the emulator's words; empty: nothing, and every output is written whole. `seed` chooses how
  // threads and asynchronous operations take turns. Throws std::invalid_argument for launches beyond the emulator's limits.
  std::string run(Call& call, unsigned seed) const;

  // Whether all launches of a call are within them.
  static bool takes(const LaunchRecord& record, const Extents& extents);

 private:
  LaunchRecord record_;
  std::vector<emulator::Compiled> compiled_;
};

}  // namespace kiln::generators::cuda
