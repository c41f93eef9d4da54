// `kiln replay`: what a second look at a candidate said.
#pragma once

#include <string>

#include "autotune/replay.h"

namespace kiln::autotune::cli {

std::string print_replay(const ReplayOutcome& outcome);
std::string replay_json(const ReplayOutcome& outcome);

}  // namespace kiln::autotune::cli
