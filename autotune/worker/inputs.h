// What every call of one problem is given: inputs made from a seed, whatever they run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln::autotune {

struct Inputs {
  std::uint64_t serial = 0;                        // tells it from all others of the process
  std::vector<std::vector<std::int64_t>> extents;  // one an argument; empty for a scalar
  std::vector<std::vector<std::byte>> bytes;       // one an argument: an input's elements, a scalar's value; empty for an output
};

// Throws UsageError for a scalar without a value, and for dimension orders other than the declared ones, which host builds do not read.
Inputs make_inputs(const Algorithm& algorithm, const Problem& problem, std::uint64_t seed, std::size_t scalar_choice);

// Of a dense buffer.
std::size_t bytes_of(const std::vector<std::int64_t>& extents, DType type);

// Of all buffers of a call.
std::size_t bytes_of(const Algorithm& algorithm, const Inputs& inputs);

}  // namespace kiln::autotune
