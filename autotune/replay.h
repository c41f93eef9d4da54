// A stored candidate built, checked and measured once more against its problem's baseline. Recorded as stage `revalidate` of a run of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "autotune/measurer.h"
#include "autotune/session.h"
#include "db/store.h"

namespace kiln::autotune {

struct ReplayOptions {
  db::ScheduleId schedule{};
  db::ProblemId problem{};
  std::filesystem::path cache_folder;  // empty: "<db>.cache"
  std::string device = "cpu";          // or "cuda:0"
  int threads = 0;                     // of a CPU's kernels; 0: the usable cores
  Cache cache = Cache::hot;
  std::uint64_t seed = 1;
  bool wait = false;
  std::string command;                 // as typed: stored with the run
  Launch launch;
};

struct ReplayOutcome {
  std::string run;                                 // UUID
  std::string problem, candidate, baseline;        // texts: the problem, 12 digits, the baseline's schedule and where it came from
  std::string baseline_origin;
  std::optional<generators::Rejection> rejection;  // of the candidate: it no longer builds, passes or runs
  std::optional<double> baseline_ns, value_ns;
  Ratio to_baseline;                               // time / baseline's time in this race
  std::optional<double> earlier_ratio;             // of the latest race before this one
  double floor = 0;
  bool contended = false;
  bool is_baseline = false;                        // the candidate is the baseline: there is nothing to compare
  std::optional<ClocksOutcome> clocks, baseline_clocks;  // of a GPU's kernels, after the race; the baseline's own where it is another
};

// Throws UsageError when no race of the problem names a baseline, EnvironmentError when the baseline itself cannot be built or run here, or when
// another process holds the device.
ReplayOutcome replay(db::Store& store, const ReplayOptions& options, Progress& progress, const std::function<StopRequest()>& stop_request);

}  // namespace kiln::autotune
