// A sum of products for each element: what the spaces of matrix-vector and matrix products on a GPU are about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln::schedules {

struct SumOfProducts {
  Stage stage;
  std::string rows_of, columns_of;      // the arguments that are read by row and term, and by column and term
  DType type_of_rows, type_of_columns;
  bool terms_are_neighbours = false;    // in what is read by column and term
  bool is_of_codes = false;             // both are codes of E4M3, and their product is of what these stand for
  std::int64_t columns = 1, rows = 1, terms = 1;
};

// What a stage of two loops sums up for each element; nothing where it does anything else.
std::optional<SumOfProducts> sum_of_products(const Stage& stage);

// One output of two loops that reads, element by element, one sum over terms, and nothing else is summed; nothing where the algorithm has another form.
std::optional<SumOfProducts> find_sum_of_products(const Algorithm& algorithm);
std::optional<SumOfProducts> find_sum_of_products(const Algorithm& algorithm, const Problem& problem);  // with its extents

}  // namespace kiln::schedules
