// The space of outputs computed element by element on a GPU: all elements in one line, 16 bytes of each operand an access. The knobs are threads, accesses in
// flight, hints to the caches, and which stages between are kernels of their own.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

// Whether every stage is read point by point and every argument has the output's dimensions: nothing is shared along rows or columns.
bool is_line_operator(const Algorithm& algorithm);

Space lines_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
