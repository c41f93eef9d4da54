// What became of a run, for whoever started it; all else is in the store.
#pragma once

#include <string>

#include "autotune/stop_request.h"

namespace kiln::autotune {

struct TuneOutcome {
  std::string run;                   // UUID
  int problems = 0;                  // tuned, or looked at
  int without_baseline = 0;          // of these: neither the baseline nor anything else could be built and run
  bool contended = false;            // some problem had no clean measurement: its choice is the previous one
  bool resumed = false;              // earlier results were found and not done again
  StopRequest stopped = StopRequest::go_on;
  double total_s = 0, compiling_s = 0, measuring_s = 0;  // wall clock; what is neither waiting for compilers nor for the measuring worker is our own
};

}  // namespace kiln::autotune
