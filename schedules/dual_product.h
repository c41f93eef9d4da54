// Two products of the same rows, of which one stage is made element by element, and what a third makes of that: what the spaces of several products are about.
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
  // Of each, the first stage that is made of this sum alone, element by element: what a kernel of its own would store. Empty where there is none, and where what is
  // made of both reads more than its own element.
  std::array<std::string, 2> stored;

  bool can_be_apart() const { return !stored[0].empty() && !stored[1].empty(); }
};

// Of which one output is made. Nothing where the algorithm has another form.
std::optional<DualProduct> find_dual_product(const Algorithm& algorithm);
std::optional<DualProduct> find_dual_product(const Algorithm& algorithm, const Problem& problem);  // with its extents

// A feed-forward layer: the dual product makes a stage whose rows a third product takes, and one output is made of that.
struct FeedForward {
  DualProduct dual;
  std::string hidden;  // the stage between them
  SumOfProducts down;
};
std::optional<FeedForward> find_feed_forward(const Algorithm& algorithm);
std::optional<FeedForward> find_feed_forward(const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln::schedules
