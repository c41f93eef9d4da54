// From an Algorithm back to a Halide pipeline without a schedule, under canonical names; every lowering starts here, in any process.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln {

struct Pipeline {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;      // the inputs in declaration order, as Pipeline::compile_to_module wants them
  std::map<std::string, Halide::Parameter> inputs;  // by argument name, unused ones included
  std::map<std::string, Halide::Parameter> outputs;  // by argument name
  std::map<std::string, Halide::Func> stages;   // by canonical name; an input's wrapper by "<input>.in"
  std::vector<std::string> output_stages;
};

// What Halide calls a stage or loop of a rebuilt pipeline: it forbids `.` and dislikes `#`, so `blur#2` is `blur$2`, `A.in` is `A$in`, `r.x` is
// `r$x`. A pure loop's name is itself. Halide's own suffixes match: RVar("r$x") finds the loop of `r.x`.
std::string halide_name(const std::string& canonical);

std::string linked_halide_version();  // "21.0.0"

// Reads back `algorithm.pipeline`, drops its schedule and what it asks of its buffers' shapes, renames. Needs the Halide version that wrote it; throws DataError naming both.
Pipeline rebuild(const Algorithm& algorithm);

// The same with floats widened to f64: casts to narrower types stay as rounding points, what cannot be widened (reinterpret, unknown
// extern calls) is computed in its own type. Outputs of a float type become f64; inputs keep their types. Scheduled with the trusted
// schedule: each stage compute_root, outputs tiled and parallel.
Pipeline rebuild_reference(const Algorithm& algorithm);

// Each stage compute_root, rows of outputs and of updates in parallel, sums in the order of their reduction. For the reference.
void apply_trusted_schedule(Pipeline& pipeline);

// The author's own schedule, as the generator applied it. Throws ScheduleError with algorithm.own_schedule_absent when there is none.
Pipeline rebuild_own(const Algorithm& algorithm);

// Sets the problem's extents as estimates, which the shipped autoschedulers follow.
void set_estimates(Pipeline& pipeline, const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln
