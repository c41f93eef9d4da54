// Where the loops of every stage stand in the program that a schedule makes: a tree by names, before any number is known.
#pragma once

#include <set>
#include <vector>

#include "dsl/footprint_regions.h"

namespace kiln {

// A loop, or the innermost computation of a definition, which has no variable and nothing inside.
struct PlacedLoop {
  int stage = 0, definition = 0, variable = 0;
  bool is_computation = false;
  std::vector<PlacedLoop> inside;  // in order: stages computed here, then the rest of the definition
  std::vector<int> stored;         // stages whose storage lives as long as one iteration
};

// The whole call, as the iteration of a loop that runs once; its `inside` are the stages at root.
PlacedLoop place_loops(const ScheduledProblem& program);

}  // namespace kiln
