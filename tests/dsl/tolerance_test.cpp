// What sums of products of E4M3 codes may be off beside all others: as the tensor cores add them.
#include "dsl/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dsl/expression.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

constexpr double kToBf16 = 0x1p-7;

double in_f32(double terms) { return 8 * 0x1p-23 * std::sqrt(terms); }

double relative(const Algorithm& algorithm, const std::string& terms) {
  return tolerances(algorithm, resolve(parse_problem_text(algorithm.generator + "(m=16, n=16, k=" + terms + ")"), algorithm)).at(0).relative;
}

TEST(CodesTolerance, of_promoted_sums_is_that_of_128_terms) {
  const Algorithm codes = dot_of_codes();
  EXPECT_DOUBLE_EQ(relative(codes, "128"), in_f32(128) + kToBf16 + 0x1p-9);
  EXPECT_DOUBLE_EQ(relative(codes, "16384"), in_f32(16384) + kToBf16 + 0x1p-9);
  EXPECT_DOUBLE_EQ(relative(codes, "32"), in_f32(32) + kToBf16 + 0x1p-10);
}

TEST(CodesTolerance, of_plain_sums_grows_with_the_root_of_their_steps) {
  Algorithm codes = dot_of_codes();
  codes.contract = Contract::free;
  EXPECT_DOUBLE_EQ(relative(codes, "128"), in_f32(128) + kToBf16 + 0x1p-8);
  EXPECT_DOUBLE_EQ(relative(codes, "2048"), in_f32(2048) + kToBf16 + 0x1p-6);
  EXPECT_DOUBLE_EQ(relative(codes, "8192"), in_f32(8192) + kToBf16 + 0x1p-5);
}

TEST(CodesTolerance, holds_for_codes_that_were_other_floats_on_the_way) {
  Algorithm codes = dot_of_codes();
  Expression sum = *without_lets(codes.stage("c").updates[0].values[0]), product = *sum.args[1];
  for (ExpressionPtr& factor : product.args) factor = parse_expression("(cast f32 (cast f16 " + print(*factor) + "))");
  sum.args[1] = std::make_shared<Expression>(product);
  for (Stage& stage : codes.stages)
    if (stage.name == "c") stage.updates[0].values[0] = std::make_shared<Expression>(sum);
  EXPECT_DOUBLE_EQ(relative(codes, "1024"), in_f32(1024) + kToBf16 + 0x1p-10 + 0x1p-9);
}

// Sums of codes, not of products; products of codes with other floats; sums of other floats under any contract.
TEST(CodesTolerance, is_of_no_other_sum) {
  Algorithm codes = dot_of_codes();
  Expression sum = *without_lets(codes.stage("c").updates[0].values[0]);
  const Expression product = *sum.args[1];
  const auto with = [&](const ExpressionPtr& term) {
    Algorithm changed = codes;
    Expression other = sum;
    other.args[1] = term;
    for (Stage& stage : changed.stages)
      if (stage.name == "c") stage.updates[0].values[0] = std::make_shared<Expression>(other);
    return changed;
  };
  Expression scaled = product;
  scaled.args[1] = parse_expression("(load f32 row_scale.in 0 m)");
  EXPECT_DOUBLE_EQ(relative(with(product.args[0]), "1024"), in_f32(1024) + kToBf16);
  EXPECT_DOUBLE_EQ(relative(with(std::make_shared<Expression>(scaled)), "1024"), in_f32(1024) + kToBf16);
  Algorithm floats = dot_by_terms();
  const double before = relative(floats, "1024");
  floats.contract = Contract::free;
  EXPECT_DOUBLE_EQ(relative(floats, "1024"), before);
  EXPECT_LT(before, in_f32(1024) + kToBf16 + 0x1p-12);
}

}  // namespace
}  // namespace kiln::tests
