#include <Halide.h>

#include <cmath>

#include "dsl/float8.h"
#include "dsl/float8_pattern.h"
#include "tests/generators/operators/elements.h"
#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

constexpr std::size_t kColumns = 257;
constexpr double kLargest = 448, kLeastPeak = 1.0 / 512;
constexpr double kF32Error = 1e-6;  // of a few operations and an exp, as a share

template <typename T>
std::vector<double> gated(const std::vector<T>& g, const std::vector<T>& u) {
  std::vector<double> values;
  for (std::size_t i = 0; i < g.size(); ++i) values.push_back(widened(g[i]) / (1 + std::exp(-widened(g[i]))) * widened(u[i]));
  return values;
}

// The code of a value that is known up to f32's error: that of the nearest E4M3 number, of either neighbour in the middle between two.
void expect_code(std::uint8_t code, double value, const std::string& where) {
  const std::uint8_t low = encode_float8(kE4M3FN, value * (1 - kF32Error)), high = encode_float8(kE4M3FN, value * (1 + kF32Error));
  ASSERT_TRUE(code == low || code == high) << where << ": code " << int{code} << " of " << value;
}

std::string place(std::size_t i, const Schedule& schedule) { return std::to_string(i) + "\n" + print(schedule); }

template <typename T>
void expect_quantised_by(float inv_scale) {
  std::vector<T> g = drawn<T>(3 * kColumns, 1), u = drawn<T>(3 * kColumns, 2);
  const std::vector<double> values = gated(g, u);
  const OperatorRun run("swiglu_quant(m=3, n=" + std::to_string(kColumns) + ", " + Element<T>::kName + ")");
  for (const Schedule& seed : run.seeds()) {
    std::vector<std::uint8_t> y(values.size(), 0xaa);
    ASSERT_EQ(run.call(seed, {g.data(), u.data(), &inv_scale, y.data()}), 0) << kiln_host_error_text();
    for (std::size_t i = 0; i < y.size(); ++i) expect_code(y[i], values[i] * static_cast<double>(inv_scale), place(i, seed));
  }
}

TEST(SwigluQuant, by_a_scale_of_the_call_rounds_and_saturates) {
  expect_quantised_by<float>(16);
  expect_quantised_by<float>(1e-3f);
  expect_quantised_by<Halide::bfloat16_t>(1000);
}

// Rows one after the other, each scaled by its own largest element. The codes are exact for the scale that is stored.
template <typename T>
void expect_quantised_rows(std::vector<T> g, std::vector<T> u) {
  const std::vector<double> values = gated(g, u);
  const std::size_t rows = g.size() / kColumns;
  const OperatorRun run("swiglu_quant(m=" + std::to_string(rows) + ", n=" + std::to_string(kColumns) + ", " + Element<T>::kName + ", scale=row)");
  for (const Schedule& seed : run.seeds()) {
    std::vector<std::uint8_t> y(values.size(), 0xaa);
    std::vector<float> scales(rows, -1.0f);
    ASSERT_EQ(run.call(seed, {g.data(), u.data(), y.data(), scales.data()}), 0) << kiln_host_error_text();
    for (std::size_t m = 0; m < rows; ++m) {
      double peak = kLeastPeak;
      for (std::size_t n = 0; n < kColumns; ++n) peak = std::max(peak, std::abs(values[m * kColumns + n]));
      const auto stored = static_cast<double>(scales[m]);
      ASSERT_NEAR(stored, peak / kLargest, kF32Error * peak / kLargest) << place(m, seed);
      for (std::size_t i = m * kColumns; i < (m + 1) * kColumns; ++i) expect_code(y[i], values[i] / stored, place(i, seed));
    }
  }
}

TEST(SwigluQuant, by_rows_takes_the_largest_element_of_each_to_448) {
  expect_quantised_rows(drawn<float>(3 * kColumns, 3), drawn<float>(3 * kColumns, 4));
  expect_quantised_rows(drawn<Halide::bfloat16_t>(2 * kColumns, 5), drawn<Halide::bfloat16_t>(2 * kColumns, 6));
}

TEST(SwigluQuant, a_row_of_next_to_nothing_is_not_blown_up) {
  std::vector<float> g = drawn<float>(3 * kColumns, 7), u = drawn<float>(3 * kColumns, 8);
  for (std::size_t i = 0; i < kColumns; ++i) u[i] = 0;
  for (std::size_t i = kColumns; i < 2 * kColumns; ++i) u[i] *= 1e-5f;
  expect_quantised_rows(g, u);
}

TEST(SwigluQuant, is_recognised_as_an_encoding_of_what_was_scaled) {
  for (const char* rest : {"", ", scale=row", ", bf16", ", bf16, scale=row"}) {
    const OperatorRun run("swiglu_quant(m=3, n=8" + std::string(rest) + ")");
    const auto match = match_encode_float8(*run.algorithm().stage("y").values[0]);
    ASSERT_TRUE(match.has_value()) << rest;
    EXPECT_EQ(match->format.name, "e4m3fn");
    EXPECT_EQ(print(*match->value), "(load f32 scaled 0 n m)");
  }
}

}  // namespace
}  // namespace kiln::tests
