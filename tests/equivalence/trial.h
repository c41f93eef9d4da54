// One schedule's trial in a process of its own: what crashes or hangs there costs this schedule, and its name is known.
#pragma once

#include <string>

#include "dsl/device.h"
#include "dsl/schedule.h"
#include "tests/equivalence/subject.h"

namespace kiln::tests {

struct Outcome {
  enum class Kind : char {
    equal = 'e',
    wrong = 'w',         // another result, a failed call, a crash, a call without end
    refused = 'r',       // Halide refuses what legality accepted
    over_device = 'o',   // more than the device has: scratch, spills
    needs_more = 'm',    // asks for larger buffers than the problem's, found before any call
    slow_build = 's',    // not compiled in time
  };
  Kind kind = Kind::wrong;
  std::string text;
};

// Forks; the caller must have no other thread. The call's parallel loops run on two threads.
Outcome try_schedule(const Subject& subject, const Algorithm& algorithm, const Schedule& schedule, const Device& device);

}  // namespace kiln::tests
