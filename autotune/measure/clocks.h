// What a call of a program of kernels takes by three clocks: how long the device works on it, how long the host is kept, how long until the result is there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autotune/measure/protocol.h"
#include "generators/rejection.h"

namespace kiln::autotune {

// How a call is handed to the device.
enum class Submission : std::uint8_t {
  graph,  // captured before: one launch, however many kernels
  plain,  // a launch for each kernel
};

struct Spread {
  double median_ns = 0, iqr_ns = 0;  // NaN: of no samples
  bool operator==(const Spread&) const = default;
};
Spread spread(std::span<const double> ns);

struct Clocks {
  Submission submission = Submission::graph;
  Cache cache = Cache::hot;
  int kernels = 0;         // of a call
  int calls_together = 1;  // the device's clock is of so many calls behind one another, divided by them
  Spread device;           // between two events; all was submitted before the first
  Spread submit;           // the host's clock around the launches of one call
  Spread completion;       // the host's clock from before the launches of one call until the device is idle again
  double sm_mhz = 0;       // the median beside the device's samples
  bool operator==(const Clocks&) const = default;
};

struct ClocksOutcome {
  std::optional<generators::Rejection> rejection;  // run_error, run_timeout
  std::vector<Clocks> clocks;                      // as a graph and plain, hot and then cold
  std::string absent;                              // why there are none
};

}  // namespace kiln::autotune
