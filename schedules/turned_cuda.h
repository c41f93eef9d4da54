// The space of outputs that read a matrix by columns on a GPU: tiles through shared memory. The knobs are the tile's sides, which tiles are neighbours in time,
// and how memory is touched.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

// Whether one output of two loops reads an argument with its loops exchanged, and everything else point by point.
bool is_turned_operator(const Algorithm& algorithm);

Space turned_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
