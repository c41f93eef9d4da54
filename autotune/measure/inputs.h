// The numbers that a problem is checked and measured on: random, never zeros, the same for one seed on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dsl/algorithm.h"
#include "dsl/element.h"

namespace kiln::autotune {

// Fills a buffer argument: its registered `values` (drawn uniformly), its `range` (uniform), else by type: floats N(0, 1), 8- and 16-bit integers
// and bool their full range, wider integers 0..1023. Depends on seed, argument name and position alone.
void fill(std::span<std::byte> bytes, const Argument& argument, std::uint64_t seed);

// A scalar's value: values[choice modulo their number], else its estimate. Throws UsageError naming the argument that has neither.
double scalar_value(const Argument& argument, std::size_t choice);

}  // namespace kiln::autotune
