#include "autotune/conduct.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/choose.h"
#include "autotune/coverage.h"
#include "db/choices.h"
#include "db/demand.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

// What a request to choose right away still allows: enough for thirty samples of a few short kernels.
constexpr double kHurried_s = 10;

}  // namespace

std::vector<Tuning> prepare(Run& run, std::vector<Tuning>& tunings, TuneOutcome& outcome) {
  std::vector<Tuning> ready;
  for (Tuning& tuning : tunings) {
    if (run.is_stopped()) break;
    try {
      if (!tuning.prepare()) {
        ++outcome.without_baseline;
        continue;
      }
    } catch (const UsageError& error) {
      if (tunings.size() == 1) throw;
      run.note("untunable", error.what());
      ++outcome.without_baseline;
      continue;
    }
    outcome.resumed |= tuning.has_resumed();
    ready.push_back(std::move(tuning));
  }
  double finals_s = 0;
  for (const Tuning& tuning : ready) finals_s += tuning.finals_need_s();
  run.budget.need(finals_s, coverage_need_s(run, ready));
  return ready;
}

void search(Run& run, std::vector<Tuning>& tunings, const std::function<void(Tuning&)>& begin) {
  while (!run.search_is_over()) {
    std::vector<Prospect> prospects;
    for (const Tuning& tuning : tunings) {
      prospects.push_back(tuning.prospect());
      // A batch that would not end in time takes from the finals what they were promised.
      if (prospects.back().batches > 0 && prospects.back().least_s > run.search_left_s()) prospects.back().exhausted = true;
    }
    const std::optional<std::size_t> next = next_problem(prospects);
    if (!next) return;
    const bool is_first = prospects[*next].batches == 0;
    if (is_first && begin) begin(tunings[*next]);
    tunings[*next].batch();
  }
}

void finals(Run& run, std::vector<Tuning>& tunings, double horizon_s, TuneOutcome& outcome) {
  if (horizon_s <= 0) horizon_s = db::kDefaultHorizon_s;
  std::size_t remaining = tunings.size();
  for (Tuning& tuning : tunings) {
    double limit_s = run.budget.finals_s(run.spent_s(), remaining--);
    if (run.stop_request() == StopRequest::choose) limit_s = std::min(limit_s, kHurried_s / static_cast<double>(tunings.size()));
    if (run.stop_request() == StopRequest::leave) return;
    tuning.finals(limit_s);
    tuning.tell("choosing", 0, 0);
    const db::StoredChoice chosen = choose(run.store, run.key(tuning.item().problem_id), run.id, tuning.item().calls, horizon_s);
    outcome.contended |= chosen.row.decision == "keep_previous";
    if (chosen.row.decision == "keep_previous") run.note("contended", fmt::format("{}: {}", print(tuning.item().problem), chosen.row.why));
  }
  if (run.stop_request() != StopRequest::leave) cover_intervals(run, tunings);
}

void conclude_run(Run& run, double compiling_s, TuneOutcome& outcome) {
  outcome.stopped = run.stop_request();
  outcome.total_s = run.spent_s();
  outcome.compiling_s = compiling_s;
  outcome.measuring_s = run.measurer.spent_s();
  record_event(run.store, run.id, "time",
               fmt::format("{:.1f} s in all: {:.1f} s waiting for compilers, {:.1f} s checking and measuring, {:.1f} s for the rest", outcome.total_s,
                           outcome.compiling_s, outcome.measuring_s, outcome.total_s - outcome.compiling_s - outcome.measuring_s));
}

}  // namespace kiln::autotune
