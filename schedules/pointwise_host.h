// The space of outputs computed element by element from inputs: nothing is read twice, so vectors, unrolling and the size of a task are all there is.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

// Whether one output without updates, of one loop or more, reads everything point by point.
bool is_pointwise(const Algorithm& algorithm);

Space pointwise_host(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
