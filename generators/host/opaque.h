// The two schedules that stand for what others decide: the author's own, and an autoscheduler's.
#pragma once

#include <Halide.h>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "dsl/rebuild.h"
#include "dsl/schedule.h"

namespace kiln::generators::host {

// `schedule` is opaque and passed find_illegal. An autoscheduler follows the problem's extents as estimates. Throws ScheduleError for an own schedule
// or an autoscheduler that is not there (lists those beside libHalide), Halide::Error for what the autoscheduler refuses.
Pipeline rebuild_opaque(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Halide::Target& target);

}  // namespace kiln::generators::host
