// A bundle on the machine with the GPU: what was planned elsewhere is checked, raced and chosen from, by the code of `kiln tune`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "autotune/process/child.h"
#include "autotune/progress.h"
#include "autotune/tune_outcome.h"

namespace kiln::autotune {

struct MeasureOptions {
  std::filesystem::path folder;         // the bundle
  std::string device = "cuda:0";
  double budget_s = 0;                  // wall clock from the call on, choices made; it ends earlier when everything is measured
  bool wait = false;                    // for the device, when another process measures on it
  std::filesystem::path cache_folder;   // empty: that of the bundle's store
  std::string command;                  // as typed: stored with the run, printed as the way to resume
  Launch launch;
};

// Measures what no earlier call has; every outcome is committed to the bundle's store. Throws DataError for a folder that is no bundle, EnvironmentError
// when there is no GPU, another kind of GPU than the images are for, or one that another process measures on.
TuneOutcome measure(const MeasureOptions& options, Progress& progress, const std::function<StopRequest()>& stop_request);

}  // namespace kiln::autotune
