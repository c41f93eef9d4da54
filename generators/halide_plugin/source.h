// The schedule as the source that Halide writes beside an object: inside `apply_schedule_NAME(Pipeline pipeline, Target)`.
#pragma once

#include <string>

#include "dsl/read_algorithm_live.h"

namespace kiln::generators::halide_plugin {

// Declarations of the stages and loops that the schedule names, taken from `pipeline`, then print_halide's lines.
std::string schedule_source(const Halide::Pipeline& pipeline, const LivePipeline& live, const Schedule& schedule);

}  // namespace kiln::generators::halide_plugin
