// The space of row operators: reductions over whole rows, then an output that reads them with the row again, as in rmsnorm and softmax. A row stays
// in cache between its passes; the knobs are how each pass is vectorised, which whole rows are kept between passes, and how many rows a task takes.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

// Whether one pure output of two loops reads reductions over one variable that run over its rows alone, and pure stages of them or of whole rows.
bool is_row_operator(const Algorithm& algorithm);

Space rows_host(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
