// The space of matrix-vector products on a GPU: a sum of products for each element, for a few rows at once, so that the weights are read once. Two forms by
// how the weights lie: dots where the terms of a column are neighbours in memory, strips where the columns of a term are.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

// Whether one output of two loops reads, element by element, one sum over terms of products of two arguments, and nothing else is summed.
bool is_sum_operator(const Algorithm& algorithm);

// Unsatisfiable where there are more rows than a thread keeps sums of.
Space sums_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
