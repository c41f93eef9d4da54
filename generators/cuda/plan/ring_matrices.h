// Which matrices a ring multiplies: what the terms of its sums are products of.
#pragma once

#include <string>
#include <vector>

#include "generators/cuda/program/computation.h"

namespace kiln::generators::cuda {

// Places in a computation's operands.
struct RingMatrices {
  int rows = 0;                          // read by row and term, by all products
  std::vector<int> columns;              // read by column and term, of each product in the order of the dots
  bool columns_have_terms_inside = true; // their terms are neighbours in memory; else their columns are
};

// `leader` is the kernel's stage, which messages begin with. Throws ScheduleError for terms that are no products of two matrices as they are in memory, and for
// several products that tensor cores cannot make at once.
RingMatrices ring_matrices(const Computation& computation, const std::string& leader);

}  // namespace kiln::generators::cuda
