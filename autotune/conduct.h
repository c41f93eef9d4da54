// The course of a run once its problems are known, wherever its builds come from: baselines, batches, finals, choices.
#pragma once

#include <functional>
#include <vector>

#include "autotune/tune_outcome.h"
#include "autotune/tuning.h"

namespace kiln::autotune {

// The tunings that have a baseline. A problem at fault (its reference crashes, say) costs itself; being the only one, it is the user's error.
std::vector<Tuning> prepare(Run& run, std::vector<Tuning>& tunings, TuneOutcome& outcome);

// Batch after batch, each of the problem that is worth most now, until the search's share of the time is over or nothing is left. `begin` hears of a problem
// before its first batch.
void search(Run& run, std::vector<Tuning>& tunings, const std::function<void(Tuning&)>& begin = {});

// Finals and choices, within what is left of the time, and the intervals that the chosen serve. `horizon_s`: 0 is the default.
void finals(Run& run, std::vector<Tuning>& tunings, double horizon_s, TuneOutcome& outcome);

// How it ended and where the time went, also as an event of the run.
void conclude_run(Run& run, double compiling_s, TuneOutcome& outcome);

}  // namespace kiln::autotune
