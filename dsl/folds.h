// How much of a stage one iteration of a loop needs: whether later iterations can go on from what earlier ones left, and whether a ring of so many
// elements can hold it.
#pragma once

#include <string>

#include "dsl/loop_nest.h"
#include "dsl/placement.h"

namespace kiln {

// Why `fold_storage` of a dimension cannot stand, with what would do; an empty text when it can. `outermost` is the outermost loop between where
// the stage is stored and where it is computed: its iterations share the ring.
std::string refuse_fold(const LoopNest& nest, int stage, std::size_t dimension, const EnclosingLoop& outermost);

// Why a stage cannot keep what it computes from one iteration of `loop` to the next; an empty text when it can, or when that is not known here.
// Halide (21) computes what a slide lacks from the least and the largest that an iteration reads; where one read moved along with the loop and
// another took the dimension as a whole, softmax came out wrong. Which of its steps goes wrong was not looked into.
std::string refuse_slide(const LoopNest& nest, int stage, const EnclosingLoop& loop);

}  // namespace kiln
