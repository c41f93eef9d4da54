// How much of a stage one iteration of a loop needs, and whether a ring of that many elements can hold it.
#pragma once

#include <string>

#include "dsl/loop_nest.h"
#include "dsl/placement.h"

namespace kiln {

// Why `fold_storage` of a dimension cannot stand, with what would do; an empty text when it can. `outermost` is the outermost loop between where
// the stage is stored and where it is computed: its iterations share the ring.
std::string refuse_fold(const LoopNest& nest, int stage, std::size_t dimension, const EnclosingLoop& outermost);

}  // namespace kiln
