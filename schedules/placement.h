// How the definitions of a stage run their own loops, wherever the stage is computed: in a tile, at root, or as an output with updates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/schedule.h"

namespace kiln::schedules {

// How one definition's loops run.
struct LoopStyle {
  std::int64_t lanes = 1;
  // Of the pure definition's vectors. ShiftInwards only where the region is at least a vector wide: it would be widened to one, and what is
  // read for that could lie outside a buffer.
  std::string tail = "GuardWithIf";
  std::int64_t reduce_vectors = 0;      // above 0: reductions that may be regrouped are vectorised by this many vectors, in partial sums
  bool loop_inside = false;             // updates run along the pure loops within each step of the reduction
  std::vector<std::string> unrolled;    // loops whose whole region is unrolled; set only when it is of fixed size
};

// Appends the vectors of every definition of the stage and, when asked, `parallel` on the outermost loop that is left.
void schedule_definitions(Schedule& schedule, const Stage& stage, const LoopStyle& style, bool in_parallel);

}  // namespace kiln::schedules
