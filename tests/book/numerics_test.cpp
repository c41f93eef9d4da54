// The book's examples of numerics, run: what a rescaled sum gives, and what moving a rounding or a function would change.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/book/book.h"

namespace kiln::book {
namespace {

const std::string kOnline = "state.compute_at(o, q)\nstate.update(0).reorder(r.x, r.y, q, r.z)\nscores.compute_at(state, r.z)\n";

TEST(OnlineSoftmax, one_block_and_two_give_the_same) {
  const float ln2 = std::log(2.0f);
  for (const int block : {1, 2}) {
    const Example attention = example("book_online_attention(l=2, d=1, f32, block=" + std::to_string(block) + ")");
    const std::vector<float> out = run(attention, kOnline, {{{1, 2}, {1, 1}}, {{1, 2}, {0, ln2}}, {{1, 2}, {1, 3}}}, {1, 2});
    for (const float value : out) EXPECT_NEAR(value, 7.0 / 3.0, 1e-6) << block;
  }
}

TEST(OnlineSoftmax, equals_the_softmax_of_all_scores) {
  constexpr int kRows = 12, kDepth = 5;
  std::vector<float> q, k, v;
  for (int i = 0; i < kRows * kDepth; ++i) {
    q.push_back(std::sin(0.7f * static_cast<float>(i)));
    k.push_back(2 * std::cos(1.3f * static_cast<float>(i)));
    v.push_back(std::sin(2.1f * static_cast<float>(i) + 1));
  }
  const Example attention = example("book_online_attention(l=12, d=5, f32, block=3)");
  const std::vector<int> shape{kDepth, kRows};
  const std::vector<float> out = run(attention, "o.split(q, qo, qi, 4)\nstate.compute_at(o, qo)\nstate.update(0).reorder(r.x, r.y, q, r.z)\n"
                                                "scores.compute_at(state, r.z)\n",
                                     {{shape, q}, {shape, k}, {shape, v}}, shape);
  const auto at = [](const std::vector<float>& matrix, int row, int d) { return static_cast<double>(matrix[static_cast<std::size_t>(row * kDepth + d)]); };
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> weights;
    double sum = 0;
    for (int key = 0; key < kRows; ++key) {
      double score = 0;
      for (int d = 0; d < kDepth; ++d) score += at(q, row, d) * at(k, key, d);
      weights.push_back(std::exp(score));
      sum += weights.back();
    }
    for (int d = 0; d < kDepth; ++d) {
      double expected = 0;
      for (int key = 0; key < kRows; ++key) expected += weights[static_cast<std::size_t>(key)] / sum * at(v, key, d);
      EXPECT_NEAR(at(out, row, d), expected, 1e-5) << row << ", " << d;
    }
  }
}

TEST(Rounding, a_function_inside_a_sum_is_another_algorithm) {
  const Matrix terms{{2, 1}, {1, -1}};
  EXPECT_EQ(run(example("book_silu(m=1, k=2)"), "sum.compute_root()\n", {terms}, {1}).at(0), 0);
  EXPECT_NEAR(run(example("book_silu(m=1, k=2, before=true)"), "sum.compute_root()\n", {terms}, {1}).at(0), 0.4621, 0.00005);
}

TEST(Rounding, a_row_is_scaled_by_its_largest_value_before_the_first_is_rounded) {
  const Example row = example("book_quantise_row(m=1, n=2)");
  for (const char* schedule : {"row_max.compute_root()\nq.compute_root()\n", "row_max.compute_at(y, m)\n"}) {
    const std::vector<float> out = run(row, schedule, {{{2, 1}, {1, 10}}}, {2, 1});
    EXPECT_NEAR(out.at(0), 55.0 / 56.0, 1e-6) << schedule;  // 1 * 44.8 -> 44, and back
    EXPECT_NEAR(out.at(1), 10, 1e-6) << schedule;
  }
}

}  // namespace
}  // namespace kiln::book
