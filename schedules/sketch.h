// A space for an algorithm that nobody wrote one for, by rules: tile the outputs, vectorise the innermost loop, share out strips of tiles, and
// for every other stage inline it, compute it at a loop of its output, or at root; reductions along a loop or, where they may be regrouped, in
// partial sums.
#pragma once

#include <string>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

Space sketch(const Algorithm& algorithm, const Problem& problem, const Device& device, const std::string& name = "sketch");

}  // namespace kiln::schedules
