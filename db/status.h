// What has been done: the numbers behind `kiln status`, `kiln best` and the report. Read-only; safe while a tuner writes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/choices.h"

namespace kiln::db {

struct ProblemStatus {
  ResultKey key;
  std::string operator_name, problem;   // as text
  int tried = 0;                        // own candidates with an outcome
  int ok = 0;
  std::map<std::string, int> rejected;  // reason -> candidates, by latest outcome
  int suspects = 0;
  int running = 0;                      // trials in flight
  std::optional<double> best_ratio;     // the lowest of any stage so far, clean or not: progress, not a verdict
  bool has_clean_final = false;
};
// One row a (problem, device, toolchain, protocol) that any own run touched; `run` keeps only that run's own trials.
std::vector<ProblemStatus> problem_status(Store& store, std::optional<RunId> run = std::nullopt);

// The results of each problem and device that `best` lists: those of its latest own run with a final race, else of its latest own run.
std::vector<ResultKey> result_keys(Store& store, std::optional<DeviceId> device = std::nullopt);

// One measured step of a run, for the curve of best-so-far.
struct HistoryPoint {
  std::string at;
  ProblemId problem{};
  ScheduleId schedule{};
  std::string schedule_origin;
  std::string stage;
  double ratio = 1;
  std::string quality;
};
std::vector<HistoryPoint> history(Store& store, RunId run);

}  // namespace kiln::db
