// Algorithms written down by hand, so that nothing of Halide is needed: every kind of plan becomes a cubin or is refused with a reason, and what was
// predicted of it holds.
#include <gtest/gtest.h>

#include "tests/generators/cuda/compile/with_nvrtc.h"
#include "tests/generators/cuda/plans/census.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

class Plans : public generators::cuda::compile::WithNvrtc {};

TEST_F(Plans, compile_and_take_what_was_predicted) {
  Census census;
  census.compile({plans_of(gate(), "gate(m=1024, n=12288)"), plans_of(norm(), "norm(m=1024, n=4096)"), plans_of(shares(), "shares(m=4096, n=8192)"),
                  plans_of(scaled_rows(), "scaled_rows(m=64, n=12288)"), plans_of(turn(), "turn(m=4096, n=4096)"),
                  plans_of(dot_by_terms(), "dot_by_terms(m=2, n=12288, k=4096)"), plans_of(dot_by_terms(), "dot_by_terms(m=1, n=4096, k=12288)"),
                  plans_of(dot_by_columns(), "dot_by_columns(m=1, n=4096, k=12288)"),
                  plans_of(dot_by_columns(), "dot_by_columns(m=2, n=12288, k=4096)")},
                 *nvrtc_);
  census.expect_predicted(30);
}

}  // namespace
}  // namespace kiln::tests
