#include <Halide.h>

#include <cmath>

#include "tests/generators/operators/elements.h"
#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

using Halide::bfloat16_t;

// x of rows by terms, W of columns by terms where `kn`, else of terms by columns.
template <typename T>
double sum_of(const std::vector<T>& x, const std::vector<T>& w, std::size_t m, std::size_t n, std::size_t terms, std::size_t columns, bool kn) {
  double sum = 0;
  for (std::size_t k = 0; k < terms; ++k) sum += widened(x[m * terms + k]) * widened(kn ? w[n * terms + k] : w[k * columns + n]);
  return sum;
}

// Under every seed, in both orders of the weights. `rounds`: both products are rounded before anything is made of them.
template <typename T>
void expect_gated(std::size_t rows, std::size_t columns, std::size_t terms, bool rounds) {
  for (const bool kn : {false, true}) {
    std::vector<T> x = drawn<T>(rows * terms, 1), gate = drawn<T>(columns * terms, 2), up = drawn<T>(columns * terms, 3);
    const OperatorRun run("matmul_swiglu(m=" + std::to_string(rows) + ", n=" + std::to_string(columns) + ", k=" + std::to_string(terms) + ", " + Element<T>::kName +
                          (kn ? ", weights=kn" : "") + (rounds ? "" : ", products=f32") + ")");
    for (const Schedule& seed : run.seeds()) {
      std::vector<T> y(rows * columns, T(-77.0f));
      ASSERT_EQ(run.call(seed, {x.data(), gate.data(), up.data(), y.data()}), 0) << kiln_host_error_text();
      for (std::size_t m = 0; m < rows; ++m)
        for (std::size_t n = 0; n < columns; ++n) {
          double g = sum_of(x, gate, m, n, terms, columns, kn), u = sum_of(x, up, m, n, terms, columns, kn);
          if (rounds) g = widened(T(static_cast<float>(g))), u = widened(T(static_cast<float>(u)));
          const double exact = g / (1 + std::exp(-g)) * u;
          // A sum of another order may be rounded to the other side: two ulps of products, one of the result.
          ASSERT_NEAR(widened(y[m * columns + n]), exact, 5 * Element<T>::kRounding * std::abs(exact) + 1e-5) << m << ", " << n << "\n" << print(seed);
        }
    }
  }
}

TEST(MatmulSwiglu, is_the_gate_of_one_product_on_another) {
  expect_gated<bfloat16_t>(5, 33, 64, true);
  expect_gated<Halide::float16_t>(3, 7, 31, true);
  expect_gated<float>(1, 16, 130, true);
  expect_gated<bfloat16_t>(3, 8, 24, false);
}

// Products of 1 + 2^-8 are 1 where they are rounded to bf16.
TEST(MatmulSwiglu, rounds_each_product_unless_it_is_told_not_to) {
  std::vector<bfloat16_t> x = {bfloat16_t(1.0f), bfloat16_t(1.0f / 256)}, one = {bfloat16_t(1.0f), bfloat16_t(1.0f)}, y(1);
  const auto gated = [&](const std::string& params) {
    const OperatorRun run("matmul_swiglu(m=1, n=1, k=2, bf16" + params + ")");
    EXPECT_EQ(run.call(run.seeds().front(), {x.data(), one.data(), one.data(), y.data()}), 0) << kiln_host_error_text();
    return static_cast<float>(y[0]);
  };
  const double whole = 1 + 1.0 / 256;
  EXPECT_EQ(gated(""), static_cast<float>(bfloat16_t(static_cast<float>(1 / (1 + std::exp(-1.0))))));
  EXPECT_EQ(gated(", products=f32"), static_cast<float>(bfloat16_t(static_cast<float>(whole / (1 + std::exp(-whole)) * whole))));
}

}  // namespace
}  // namespace kiln::tests
