// One problem of an operator with drawn inputs and what the reference makes of them: every candidate of the problem is held against it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "dsl/tolerance.h"
#include "generators/host/loaded.h"
#include "tests/equivalence/guarded_memory.h"

namespace kiln::tests {

class Subject {
 public:
  // Calls the reference. `algorithm` must outlive the value. Throws Error when the reference's call fails.
  Subject(const Algorithm& algorithm, const std::string& problem, const generators::host::Loaded& reference, std::uint64_t seed);

  const Problem& problem() const { return problem_; }

  // Why this problem's buffers are too small for a build, if they are.
  std::optional<std::string> shortfall(const generators::host::Loaded& build) const;

  // Calls a build. Empty when it succeeds, every output is right and nothing outside the buffers was written; else what is wrong.
  std::string difference(const generators::host::Loaded& build) const;

 private:
  struct Called {
    int code = 0;
    std::vector<GuardedMemory> memory;
  };
  Called call(const generators::host::Loaded& build, const std::vector<DType>& types) const;

  const Algorithm& algorithm_;
  std::uint64_t seed_;
  Problem problem_;
  std::vector<std::vector<std::int64_t>> extents_;
  std::vector<Tolerance> tolerances_;
  std::vector<DType> reference_types_;
  std::vector<GuardedMemory> expected_;
};

}  // namespace kiln::tests
