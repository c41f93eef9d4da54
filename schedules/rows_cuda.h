// The space of row operators on a GPU: a row in the registers of its threads, what is one value a row through shuffles and shared memory. The knobs are how
// many threads a row has, how many rows a block, which values are kept and which are computed anew, where kernels end, and how memory is touched.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

// Whether one output of two loops is a row operator or read point by point, and every other output is one value a row of it.
bool is_row_kernel(const Algorithm& algorithm);

Space rows_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
