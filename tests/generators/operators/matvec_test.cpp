#include <Halide.h>

#include <cmath>

#include "tests/generators/operators/elements.h"
#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

// Under every seed, both layouts of the same weights give their products with x, in f32 and rounded once.
template <typename T>
void expect_matvec(std::size_t rows, std::size_t n, std::size_t k) {
  std::vector<T> x = drawn<T>(rows * k, 1), by_k = drawn<T>(k * n, 2), by_n(k * n, T(0.0f));
  std::vector<double> exact(rows * n);
  for (std::size_t j = 0; j < k; ++j)
    for (std::size_t i = 0; i < n; ++i) by_n[i * k + j] = by_k[j * n + i];
  for (std::size_t m = 0; m < rows; ++m)
    for (std::size_t j = 0; j < k; ++j)
      for (std::size_t i = 0; i < n; ++i) exact[m * n + i] += widened(x[m * k + j]) * widened(by_k[j * n + i]);
  const std::string problem = "matvec(m=" + std::to_string(rows) + ", n=" + std::to_string(n) + ", k=" + std::to_string(k) + ", " + Element<T>::kName;
  for (std::vector<T>* weights : {&by_k, &by_n}) {
    const OperatorRun run(problem + (weights == &by_k ? ", weights=nk)" : ", weights=kn)"));
    for (const Schedule& seed : run.seeds()) {
      std::vector<T> y(rows * n, T(-77.0f));
      ASSERT_EQ(run.call(seed, {x.data(), weights->data(), y.data()}), 0) << kiln_host_error_text();
      // A sum of f32 is off by its own error too: of numbers around 1, a few last bits.
      for (std::size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(widened(y[i]), exact[i], Element<T>::kRounding * std::abs(exact[i]) + 1e-5) << i << "\n" << print(run.problem()) << "\n" << print(seed);
    }
  }
}

TEST(Matvec, of_f32_is_the_product) {
  expect_matvec<float>(1, 65, 130);
  expect_matvec<float>(3, 64, 7);
  expect_matvec<float>(1, 1, 1);
}

TEST(Matvec, of_16_bit_floats_is_summed_in_f32_and_rounded_once) {
  expect_matvec<Halide::bfloat16_t>(1, 96, 257);
  expect_matvec<Halide::bfloat16_t>(8, 33, 64);
  expect_matvec<Halide::float16_t>(2, 33, 64);
}

}  // namespace
}  // namespace kiln::tests
