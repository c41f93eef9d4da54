#include <numeric>

#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

// Under every seed each element, whatever its bits, is where row and column are exchanged.
template <typename Bits>
void expect_transposed(const std::string& type, std::size_t rows, std::size_t columns) {
  std::vector<Bits> x(rows * columns);
  std::iota(x.begin(), x.end(), Bits{1});
  const OperatorRun run("transpose(m=" + std::to_string(columns) + ", n=" + std::to_string(rows) + ", " + type + ")");
  for (const Schedule& seed : run.seeds()) {
    std::vector<Bits> y(x.size(), Bits{0});
    ASSERT_EQ(run.call(seed, {x.data(), y.data()}), 0) << kiln_host_error_text();
    for (std::size_t n = 0; n < rows; ++n)
      for (std::size_t m = 0; m < columns; ++m) ASSERT_EQ(y[m * rows + n], x[n * columns + m]) << m << ", " << n << "\n" << print(seed);
  }
}

TEST(Transpose, exchanges_rows_and_columns_of_any_type) {
  expect_transposed<std::uint8_t>("u8", 65, 37);
  expect_transposed<std::uint16_t>("bf16", 65, 37);
  expect_transposed<std::uint16_t>("f16", 32, 64);
  expect_transposed<std::uint32_t>("f32", 65, 37);
  expect_transposed<std::uint32_t>("i32", 1, 9);
  expect_transposed<std::uint64_t>("f64", 9, 1);
}

}  // namespace
}  // namespace kiln::tests
