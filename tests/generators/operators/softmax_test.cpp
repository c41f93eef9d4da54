#include <cmath>
#include <limits>
#include <random>

#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

std::vector<double> by_formula(const std::vector<float>& row) {
  double peak = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const float x : row) peak = std::max(peak, static_cast<double>(x));
  for (const float x : row) sum += std::exp(static_cast<double>(x) - peak);
  std::vector<double> result;
  for (const float x : row) result.push_back(std::exp(static_cast<double>(x) - peak) / sum);
  return result;
}

// Every seed, on rows one after the other.
void expect_softmax(const std::vector<std::vector<float>>& rows) {
  const std::size_t n = rows[0].size();
  const OperatorRun run("softmax(m=" + std::to_string(rows.size()) + ", n=" + std::to_string(n) + ")");
  std::vector<float> x, y(rows.size() * n);
  for (const auto& row : rows) x.insert(x.end(), row.begin(), row.end());
  for (const Schedule& seed : run.seeds()) {
    std::fill(y.begin(), y.end(), -1.0f);
    ASSERT_EQ(run.call(seed, {x.data(), y.data()}), 0) << kiln_host_error_text();
    for (std::size_t m = 0; m < rows.size(); ++m) {
      const std::vector<double> expected = by_formula(rows[m]);
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(y[m * n + i], expected[i], 1e-6 * expected[i] * std::sqrt(static_cast<double>(n))) << m << " " << i << "\n" << print(seed);
    }
  }
}

std::vector<float> drawn(std::size_t n, float scale, float offset) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> row(n);
  for (float& x : row) x = offset + scale * normal(random);
  return row;
}

TEST(Softmax, is_the_quotient_of_exponentials_by_their_sum) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{101}, std::size_t{1024}}) expect_softmax({drawn(n, 1, 0), drawn(n, 5, 2), std::vector<float>(n, 3.0f)});
}

// exp(1000) is infinite even in f64, and exp(-1000) is 0.
TEST(Softmax, large_elements_neither_overflow_nor_vanish) { expect_softmax({drawn(101, 10, 1000), drawn(101, 10, -1000), drawn(101, 1, 3e38f / 2)}); }

TEST(Softmax, masked_elements_get_exactly_nothing) {
  std::vector<float> masked = drawn(101, 1, 0);
  for (std::size_t i = 40; i < 101; ++i) masked[i] = kMinusInfinity;
  expect_softmax({masked});
  std::vector<float> y(101, -1.0f);
  const OperatorRun run("softmax(m=1, n=101)");
  ASSERT_EQ(run.call(run.seeds().at(0), {masked.data(), y.data()}), 0);
  for (std::size_t i = 40; i < 101; ++i) EXPECT_EQ(y[i], 0.0f) << i;
}

}  // namespace
}  // namespace kiln::tests
