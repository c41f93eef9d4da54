// An operator's algorithm and its CPU build in higher precision: what kernels are held against.
#pragma once

#include <string>
#include <utility>

#include "dsl/algorithm.h"
#include "generators/host/loaded.h"

namespace kiln::tests {

struct Oracle {
  Oracle(Algorithm a, const generators::Artifact& build) : algorithm(std::move(a)), reference(build) {}

  const Algorithm algorithm;
  const generators::host::Loaded reference;
};

// Of the problem's operator under its parameters, without a build.
Algorithm algorithm_of(const std::string& problem);

// Of the problem's operator under its parameters. Problems that differ in extents alone share it, which must stand before all else in their texts.
const Oracle& oracle(const std::string& problem);

}  // namespace kiln::tests
