// The space of products through the compiler: all seeds, a plan for each value of each knob, random ones; and what was predicted of them.
#include <gtest/gtest.h>

#include "tests/generators/cuda/compile/with_nvrtc.h"
#include "tests/generators/cuda/plans/census.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

class RingPlans : public generators::cuda::compile::WithNvrtc {};

TEST_F(RingPlans, compile_and_take_what_was_predicted) {
  Census census;
  census.compile({plans_of(dot_by_terms(), "dot_by_terms(m=64, n=4096, k=12288)"), plans_of(dot_by_columns(), "dot_by_columns(m=1024, n=12288, k=4096)")}, *nvrtc_);
  census.expect_predicted(0);
}

TEST_F(RingPlans, of_two_products_compile_and_take_what_was_predicted) {
  Census census;
  census.compile({plans_of(gated_by_terms(), "gated_by_terms(m=16, n=12288, k=4096)"), plans_of(gated_by_columns(), "gated_by_columns(m=1024, n=12288, k=4096)")}, *nvrtc_);
  census.expect_predicted(0);
}

}  // namespace
}  // namespace kiln::tests
