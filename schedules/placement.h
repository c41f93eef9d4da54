// How the definitions of a stage run their own loops, wherever the stage is computed: in a tile, at root, or as an output with updates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/schedule.h"

namespace kiln::schedules {

// Of an update at root: the pure loops around its reduction are cut into tiles whose sums can stay in registers.
struct UpdateTile {
  std::int64_t vectors = 1, rows = 1;
  bool is_exact = false;  // both divide the extents: no guards
};

// How one definition's loops run.
struct LoopStyle {
  std::size_t vector = 0;               // the dimension that vectors run along
  std::int64_t lanes = 1;
  // Of the pure definition's vectors. ShiftInwards only where the region is at least a vector wide: it would be widened to one, and what is
  // read for that could lie outside a buffer.
  std::string tail = "GuardWithIf";
  std::int64_t reduce_vectors = 0;      // above 0: reductions that may be regrouped are vectorised by this many vectors, in partial sums
  bool loop_inside = false;             // updates run along the pure loops within each step of the reduction
  bool any_loop = false;                // an update that does not run over the vectors' dimension takes the innermost that it runs over
  std::int64_t steps = 1;               // of the innermost reduction loop, unrolled
  bool unrolls_taps = false;            // reduction loops of few steps, known while compiling, are unrolled whole
  std::vector<std::string> unrolled;    // loops whose whole region is unrolled; set only when it is of fixed size
  std::optional<UpdateTile> tile;       // with loop_inside
};

// A reduction loop of at most this many steps is a filter's taps.
inline constexpr std::int64_t kMostTaps = 8;
std::optional<std::int64_t> taps_of(const ReductionVariable& variable);  // its steps, when they are that few and constant

// Appends the vectors of every definition of the stage and, when asked, `parallel` on the outermost loop that is left.
void schedule_definitions(Schedule& schedule, const Stage& stage, const LoopStyle& style, bool in_parallel);

}  // namespace kiln::schedules
