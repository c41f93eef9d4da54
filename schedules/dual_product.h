// Two products of the same rows, of which one output is made element by element: what the space of dual products is about.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "schedules/sum_of_products.h"

namespace kiln::schedules {

struct DualProduct {
  std::array<SumOfProducts, 2> products;  // of one matrix of rows by two of columns, which are alike in type and order
  // Of each, the first stage that is made of this sum alone, element by element: what a kernel of its own would store. Empty where there is none.
  std::array<std::string, 2> stored;

  bool can_be_apart() const { return !stored[0].empty() && !stored[1].empty(); }
};

// Nothing where the algorithm has another form.
std::optional<DualProduct> find_dual_product(const Algorithm& algorithm);
std::optional<DualProduct> find_dual_product(const Algorithm& algorithm, const Problem& problem);  // with its extents

}  // namespace kiln::schedules
