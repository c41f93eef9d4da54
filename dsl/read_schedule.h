// From a scheduled Halide pipeline back to directives: what an author's schedule() or an autoscheduler did, as data that can be varied.
#pragma once

#include <Halide.h>

#include "dsl/algorithm.h"
#include "dsl/schedule.h"

namespace kiln {

// Directives that schedule a rebuilt `algorithm` as `pipeline` is scheduled, consumers first. Stages and their own loops have canonical names; loops
// that splits made keep the author's names where Halide did not make them up. Whether it is legal for a problem is not asked here.
// Throws ScheduleError naming the stage and what of its schedule cannot be said: specializations, prefetches, GPU loops, bounds that are no numbers, an
// rfactor before which more than one reduction loop was split.
Schedule read_schedule(const Halide::Pipeline& pipeline, const Algorithm& algorithm);

}  // namespace kiln
