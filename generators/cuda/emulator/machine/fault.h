// What ends a launch: a fault, and the words of its message.
#pragma once

#include <string>

#include "generators/cuda/emulator/machine/machine.h"

namespace kiln::generators::cuda::emulator {

struct Fault {
  std::string kind, text;
};

std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Throws a Fault whose text is the kind, the words and the place of the thread that runs.
[[noreturn]] void fail(const char* kind, const char* format, ...) __attribute__((format(printf, 2, 3)));

// "thread 3 of block 0 at line 12 (bar.sync)"
std::string describe(const Thread& thread);
// "the TMA load of line 193 for mbarrier full[0] phase 0"
std::string describe(const Stamp& stamp);
// "P[1]+8192 (block 0)", "C+128"
std::string place_name(const Space& space, std::size_t at);
// "full[2] (block 0)"
std::string mbarrier_name(const Block& block, const Mbarrier& mbarrier);

// The report of a launch in which every thread that still runs waits: the threads grouped by what they wait for.
std::string deadlock_text(const Machine& machine);

}  // namespace kiln::generators::cuda::emulator
