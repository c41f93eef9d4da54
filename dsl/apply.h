// A schedule becomes Halide calls on a rebuilt pipeline.
#pragma once

#include "dsl/rebuild.h"
#include "dsl/schedule.h"

namespace kiln {

// `schedule` must have passed find_illegal. What Halide itself still refuses is thrown as ScheduleError with the directive and Halide's words.
// Opaque schedules are not handled here: see generators/host.
void apply(const Schedule& schedule, Pipeline& pipeline);

}  // namespace kiln
