#include <Halide.h>

#include <cmath>

#include "dsl/float8.h"
#include "tests/generators/operators/elements.h"
#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

std::vector<std::uint8_t> codes(std::size_t count, unsigned seed) {
  std::vector<std::uint8_t> result;
  for (const float value : drawn<float>(count, seed)) result.push_back(encode_float8(kE4M3FN, static_cast<double>(value)));
  return result;
}

double number(std::uint8_t code) { return decode_float8(kE4M3FN, code); }

// Under every seed: the product of what codes stand for, scaled by row and column, rounded once.
template <typename Out>
void expect_scaled_product(std::size_t rows, std::size_t columns, std::size_t terms) {
  std::vector<std::uint8_t> a = codes(rows * terms, 1), b = codes(columns * terms, 2);
  std::vector<float> row_scale = drawn<float>(rows, 3), column_scale = drawn<float>(columns, 4);
  const OperatorRun run("matmul_fp8(m=" + std::to_string(rows) + ", n=" + std::to_string(columns) + ", k=" + std::to_string(terms) + ", " + Element<Out>::kName + ")");
  for (const Schedule& seed : run.seeds()) {
    std::vector<Out> c(rows * columns, Out(-77.0f));
    ASSERT_EQ(run.call(seed, {a.data(), b.data(), row_scale.data(), column_scale.data(), c.data()}), 0) << kiln_host_error_text();
    for (std::size_t m = 0; m < rows; ++m)
      for (std::size_t n = 0; n < columns; ++n) {
        double exact = 0;
        for (std::size_t k = 0; k < terms; ++k) exact += number(a[m * terms + k]) * number(b[n * terms + k]);
        exact *= static_cast<double>(row_scale[m]) * static_cast<double>(column_scale[n]);
        ASSERT_NEAR(widened(c[m * columns + n]), exact, Element<Out>::kRounding * std::abs(exact) + 1e-5) << m << ", " << n << "\n" << print(seed);
      }
  }
}

TEST(MatmulFp8, is_the_scaled_product_of_what_codes_stand_for) {
  expect_scaled_product<Halide::bfloat16_t>(5, 33, 64);
  expect_scaled_product<float>(1, 16, 130);
  expect_scaled_product<Halide::float16_t>(3, 7, 31);
}

}  // namespace
}  // namespace kiln::tests
