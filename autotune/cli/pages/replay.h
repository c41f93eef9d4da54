// `kiln replay`: what a second look at a candidate said.
#pragma once

#include <string>

#include "autotune/replay.h"

namespace kiln::autotune::cli {

// With a table of clocks where a GPU's kernels were measured.
std::string print_replay(const ReplayOutcome& outcome);
std::string replay_json(const ReplayOutcome& outcome);

}  // namespace kiln::autotune::cli
