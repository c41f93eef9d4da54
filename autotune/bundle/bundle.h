// `kiln bundle`: candidates for a GPU that is elsewhere, planned, built and run in the emulator here, with the program that measures them there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autotune/session.h"

namespace kiln::autotune {

struct BundleOptions {
  TuneOptions plan;                  // what for, as `tune` takes it; its device is a GPU by name, and without a budget `candidates` is the only limit
  int candidates = 40;               // packed of each problem, at most
  std::filesystem::path folder;      // to be made
  std::filesystem::path program;     // that measures: copied into the folder
};

struct PackedProblem {
  std::string problem;               // as text
  int tried = 0, packed = 0;
  int unemulated = 0;                // of those packed: too large for the emulator on every problem
  std::map<std::string, int> rejected;  // reason -> count
};

struct BundleOutcome {
  std::string run;                   // UUID: what makes the results one's own
  std::vector<PackedProblem> problems;
  std::int64_t bytes = 0;            // of the folder
  bool is_written = false;           // not when the user asked to leave, or nothing was packed
  StopRequest stopped = StopRequest::go_on;
};

// Every candidate is a trial of a run in the user's store; what fails here, in the emulator too, is rejected here; what is too
// large for the emulator is packed all the same, and counted. The folder appears whole or not at all. Throws UsageError (a device that is no GPU, a folder that is there already), EnvironmentError (no NVRTC, no C++ compiler for the emulator, no
// linker).
BundleOutcome bundle(const BundleOptions& options, Progress& progress, const std::function<StopRequest()>& stop_request);

}  // namespace kiln::autotune
