// What each definition of a scheduled algorithm reads and computes, collected once: the static half of dsl/footprint_read.
#pragma once

#include <string>
#include <vector>

#include "dsl/footprint_interval.h"
#include "dsl/loop_nest.h"

namespace kiln {

// One load, or the place that an update stores to.
struct ReadPlace {
  int stage = -1;                       // of LoopNest; -1: an argument
  int argument = -1;                    // of the algorithm
  std::vector<ExpressionPtr> indices;   // empty for a wrapper's: the same place as its own
  Lets lets;
  bool is_copy = false;                 // of a wrapper
};

struct DefinitionReads {
  std::vector<ReadPlace> loads;  // of other stages and arguments
  std::vector<ReadPlace> own;    // where an update loads from and stores to its own stage; none for a pure definition, which covers its loops
  double flops = 0;              // float +, -, ×, /, min, max and calls, one each; what is inlined not included
};

// By stage of the nest, by definition.
std::vector<std::vector<DefinitionReads>> collect_reads(const LoopNest& nest);

}  // namespace kiln
