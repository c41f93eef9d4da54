// Which of two schedules is likely to be faster, before either is compiled.
#pragma once

#include <optional>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"

namespace kiln::autotune {

// Cycles of a call from the closed forms of dsl/footprint_read: operations over vector lanes, and the bytes that cross into each cache, shared by as many
// cores as there are tasks for. It knows nothing of registers, latencies and tails: of use to leave out what computes or moves several times too much,
// never to choose. Nothing where there are no closed forms.
std::optional<double> predicted_cost(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device);

}  // namespace kiln::autotune
