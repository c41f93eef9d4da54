// `kiln report`: the page about a run or several, for people: what was tuned, what came of it, where candidates were lost, what random search
// alone would have found, and in what conditions the times were taken.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "autotune/cli/pages/best.h"
#include "db/runs.h"

namespace kiln::autotune::cli {

// How far the candidates of one problem came.
struct Funnel {
  std::string problem;
  int proposed = 0, built = 0, checked = 0, timed = 0, finals = 0;  // each counts those that reached at least this far
  std::map<std::string, int> rejected;
  std::map<std::string, std::string> examples;  // reason -> the text of its newest rejection
};

// The expected best speedup after n candidates of the run's own random phase.
struct RandomCurve {
  std::string problem;
  int drawn = 0;                                  // random candidates with an outcome
  std::vector<std::pair<int, double>> speedups;   // n -> expected best speedup; a failed candidate counts as the baseline
  std::optional<double> search_speedup;           // of the best of all of the run's candidates, by any proposer
};

struct RunPart {
  db::StoredRun run;
  std::string device, protocol, command, conditions;
  std::vector<db::NoiseFloor> noise;
  std::vector<db::EventRow> events;
};

struct ReportPage {
  std::vector<BestRow> best;
  std::vector<RunPart> runs;        // oldest first
  std::vector<Funnel> funnels;
  std::vector<RandomCurve> curves;
  double wall_s = 0, building_s = 0;  // of these runs: their length, and the time spent in compilers (of all workers together)
};

// All own runs, or those from the run with UUID prefix `since` on. UsageError when there is no such run.
ReportPage report_page(db::Store& store, const std::string& since = "");

std::string print_report(const ReportPage& page, bool colour);
std::string report_json(const ReportPage& page);

}  // namespace kiln::autotune::cli
