// rfactor, read back: from an update and the function that holds its partial sums to the directives that made them.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/schedule.h"

namespace kiln {

struct Factoring {
  int update = 0;                         // of the reduced stage
  std::vector<DirectiveArgument> split;   // of `split` before it, which made one of the loops; empty: there was none
  std::vector<std::string> kept;          // of `rfactor`: loop, dimension, loop, dimension, …
  // Halide's names -> ours: the reduction loops that the reduced update has now, those of the partial sums, and the dimensions that hold what was kept.
  std::map<std::string, std::string> reduced_loops, partial_loops, dimensions;
};

// Whose partial sums a function holds, by name: Halide calls those of `c` c_intm, and `$1` may follow. A stage that its author calls so is none.
std::map<std::string, std::string> find_factored(const std::vector<Halide::Internal::Function>& functions, const Algorithm& algorithm);

// `original` is the reduced stage as the algorithm has it. Throws ScheduleError where more than one reduction loop was split before, where the inner
// loop of that split is not told from the outer by its extent, and where partial sums were factored again.
Factoring read_factoring(const Stage& original, const Halide::Internal::Function& reduced, const Halide::Internal::Function& partial);

}  // namespace kiln
