// One problem of an operator with drawn inputs and what the CPU build in higher precision makes of them: every program of kernels is held against it, in the
// emulator and on a device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "dsl/tolerance.h"
#include "generators/cuda/emulated/emulated.h"
#include "generators/host/loaded.h"

namespace kiln::tests {

class EmulatedSubject {
 public:
  // Calls the reference. `algorithm` must outlive the value. Throws Error when its call fails.
  EmulatedSubject(const Algorithm& algorithm, const std::string& problem, const generators::host::Loaded& reference, std::uint64_t seed);

  const Problem& problem() const { return problem_; }
  const generators::cuda::Extents& extents() const { return call_.extents; }

  // Fills the outputs of a call from its inputs; says what went wrong.
  using Call = generators::cuda::Emulated::Call;
  using Run = std::function<std::string(Call&)>;

  // Empty when nothing goes wrong and every output is right; else the fault, or the element that is wrong.
  std::string difference(const Run& run) const;
  std::string difference(const generators::cuda::Emulated& program, unsigned seed) const;

  // A call of these inputs, with outputs of the right size.
  const Call& call() const { return call_; }

  // The first output of two calls that differ by more than each may differ from the reference; empty: none.
  std::string difference_between(const Call& one, const Call& other) const;

 private:
  const Algorithm& algorithm_;
  Problem problem_;
  std::vector<std::vector<std::int64_t>> extents_;
  std::vector<Tolerance> tolerances_;
  std::vector<DType> reference_types_;
  std::vector<std::vector<std::byte>> expected_;  // by argument
  Call call_;                                     // inputs and scalars as drawn, outputs of the right size
};

}  // namespace kiln::tests
