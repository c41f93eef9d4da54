// Worked examples: a problem's text and a schedule's text become a footprint, or run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/footprint.h"
#include "dsl/problem.h"

namespace kiln::book {

inline constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

struct Example {
  Algorithm algorithm;
  Problem problem;
};
Example example(const std::string& problem);

// Fails the test with the reason when there is none.
FootprintTree footprint(const Example& example, const std::string& schedule);

WorkingSet working_set(const FootprintTree& tree, const std::string& loop);

// Through a memory of `bytes` that each parallel task has to itself; all of it, or of one buffer.
std::int64_t traffic_bytes(const FootprintTree& tree, std::int64_t bytes);
std::int64_t traffic_bytes(const FootprintTree& tree, std::int64_t bytes, const std::string& buffer);

// The pipeline under this schedule, run. Inputs by declaration order, dimension 0 innermost; outputs of one argument.
struct Matrix {
  std::vector<int> extents;
  std::vector<float> values;
};
std::vector<float> run(const Example& example, const std::string& schedule, const std::vector<Matrix>& inputs, const std::vector<int>& output);

}  // namespace kiln::book
