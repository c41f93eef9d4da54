// swiglu, rmsnorm and softmax in each of their types: within one rounding of the formula in f64.
#include <Halide.h>

#include <cmath>

#include "tests/generators/operators/elements.h"
#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

constexpr std::size_t kRows = 5, kColumns = 101;

template <typename T>
std::string problem_text(const std::string& name) {
  return name + "(m=" + std::to_string(kRows) + ", n=" + std::to_string(kColumns) + ", " + Element<T>::kName + ")";
}

template <typename T>
void expect_rounded_once(const OperatorRun& run, const std::vector<void*>& inputs, const std::vector<double>& exact) {
  for (const Schedule& seed : run.seeds()) {
    std::vector<T> y(exact.size(), T(-77.0f));
    std::vector<void*> pointers = inputs;
    pointers.push_back(y.data());
    ASSERT_EQ(run.call(seed, pointers), 0) << kiln_host_error_text();
    // Below 2^-14 the numbers of f16 are spaced evenly.
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(widened(y[i]), exact[i], Element<T>::kRounding * std::max(0x1p-14, std::abs(exact[i]))) << i << "\n" << print(seed);
  }
}

template <typename T>
class Rounding : public testing::Test {};
using Types = testing::Types<float, Halide::float16_t, Halide::bfloat16_t>;
TYPED_TEST_SUITE(Rounding, Types);

TYPED_TEST(Rounding, of_swiglu_is_one) {
  std::vector<TypeParam> g = drawn<TypeParam>(kRows * kColumns, 1), u = drawn<TypeParam>(kRows * kColumns, 2);
  std::vector<double> exact;
  for (std::size_t i = 0; i < g.size(); ++i) exact.push_back(widened(g[i]) / (1 + std::exp(-widened(g[i]))) * widened(u[i]));
  expect_rounded_once<TypeParam>(OperatorRun(problem_text<TypeParam>("swiglu")), {g.data(), u.data()}, exact);
}

TYPED_TEST(Rounding, of_rmsnorm_is_one) {
  std::vector<TypeParam> x = drawn<TypeParam>(kRows * kColumns, 3), gamma = drawn<TypeParam>(kColumns, 4);
  float eps = 1e-5f;
  std::vector<double> exact;
  for (std::size_t m = 0; m < kRows; ++m) {
    double squares = 0;
    for (std::size_t k = 0; k < kColumns; ++k) squares += widened(x[m * kColumns + k]) * widened(x[m * kColumns + k]);
    const double size = std::sqrt(squares / kColumns + static_cast<double>(eps));
    for (std::size_t n = 0; n < kColumns; ++n) exact.push_back(widened(x[m * kColumns + n]) / size * widened(gamma[n]));
  }
  expect_rounded_once<TypeParam>(OperatorRun(problem_text<TypeParam>("rmsnorm")), {x.data(), gamma.data(), &eps}, exact);
}

TYPED_TEST(Rounding, of_softmax_is_one) {
  std::vector<TypeParam> x = drawn<TypeParam>(kRows * kColumns, 5);
  std::vector<double> exact;
  for (std::size_t m = 0; m < kRows; ++m) {
    double sum = 0;
    for (std::size_t k = 0; k < kColumns; ++k) sum += std::exp(widened(x[m * kColumns + k]));
    for (std::size_t n = 0; n < kColumns; ++n) exact.push_back(std::exp(widened(x[m * kColumns + n])) / sum);
  }
  expect_rounded_once<TypeParam>(OperatorRun(problem_text<TypeParam>("softmax")), {x.data()}, exact);
}

}  // namespace
}  // namespace kiln::tests
