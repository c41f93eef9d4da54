// Halide's lowering of one scheduled pipeline: the module that becomes the object, and its loops as plain numbers.
// The files lowered* are the only ones of this folder that read Halide's internal statements.
#pragma once

#include <Halide.h>

#include <string>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "dsl/rebuild.h"
#include "generators/host/loop_tree.h"

namespace kiln::generators::host {

struct Lowered {
  Halide::Module module;
  LoopTree program;
};

// Adds passes of ours to Halide's: every access to an output is compiled for a pointer that is aligned to its element only, every access to the
// stack finds the alignment it was compiled for, and the final statement is read into a LoopTree for this problem's extents. Throws Halide::Error.
Lowered lower(Pipeline& pipeline, const std::string& symbol, const Halide::Target& target, const Algorithm& algorithm, const Problem& problem);

// Without the reading, for builds that no problem belongs to.
Halide::Module lower(Pipeline& pipeline, const std::string& symbol, const Halide::Target& target);

}  // namespace kiln::generators::host
