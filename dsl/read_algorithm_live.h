// A pipeline that somebody else has built and will compile, as an autoscheduler is handed it: its structure as values, and schedules put onto it.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <map>
#include <string>

#include "dsl/algorithm.h"
#include "dsl/read_algorithm_names.h"
#include "dsl/schedule.h"

namespace kiln {

struct LivePipeline {
  // Stages, outputs and requirements; of its arguments the inputs that it loads and its outputs, with their estimates. No generator, no parameters.
  Algorithm structure;
  std::map<std::string, Halide::Func> stages;  // by canonical name
  Names names;
};

// Throws AlgorithmError for what Kiln cannot read.
LivePipeline read_live(const Halide::Pipeline& pipeline);

// Whether the two compute the same by the same stages. Generators, parameters and extents do not count.
bool is_same_structure(const Algorithm& a, const Algorithm& b);

// The extents of the algorithm's symbols under the live pipeline's estimates; a symbol of which no axis has one is left out. `algorithm` must be
// of the same structure. Throws UsageError when the axes of one symbol are estimated differently.
std::map<std::string, std::int64_t> estimated_extents(const LivePipeline& live, const Algorithm& algorithm);

// Schedules the live pipeline itself. The schedule must be legal for its structure and not opaque. Throws ScheduleError.
void apply_live(const Schedule& schedule, LivePipeline& live);

}  // namespace kiln
