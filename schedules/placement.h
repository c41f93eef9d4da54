// The directives of a stage that is no output: where it is computed and how its own loops run there.
#pragma once

#include <string>

#include "schedules/nest.h"
#include "schedules/stage_graph.h"

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

// Appends the vectors (and `parallel` on the outermost loop, when asked) of every definition of the stage. Used for stages at root, in tiles, and for
// outputs with updates.
void schedule_definitions(Schedule& schedule, const Stage& stage, const LoopStyle& style, bool in_parallel);

}  // namespace kiln::schedules
