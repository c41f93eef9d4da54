// How the emulator's tensor cores add products of E4M3 codes: every code, the bits that a step cuts off, and the errors of long sums that an H200 showed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "dsl/float8.h"
#include "generators/cuda/emulator/units/e4m3_sums.h"
#include "numbers.h"

namespace kiln::generators::cuda::emulator {
namespace {

std::uint8_t code_of(double value) { return encode_float8(kE4M3FN, value); }

// One step: sum + row . column.
float step(float sum, std::vector<double> row, std::vector<double> column) {
  std::vector<std::uint8_t> codes(kE4M3Terms);
  E4M3Columns columns(1);
  for (std::size_t k = 0; k < codes.size(); ++k) {
    codes[k] = code_of(k < row.size() ? row[k] : 0);
    columns.set(static_cast<int>(k), 0, code_of(k < column.size() ? column[k] : 0));
  }
  add_e4m3_products(&sum, codes.data(), columns);
  return sum;
}

TEST(E4M3Sums, of_one_product_are_exact_for_every_pair_of_codes) {
  E4M3Columns columns(256);
  for (int j = 0; j < 256; ++j) {
    columns.set(0, j, static_cast<std::uint8_t>(j));
    for (int k = 1; k < kE4M3Terms; ++k) columns.set(k, j, 0);
  }
  for (int i = 0; i < 256; ++i) {
    std::uint8_t row[kE4M3Terms] = {static_cast<std::uint8_t>(i)};
    float sums[256] = {};
    add_e4m3_products(sums, row, columns);
    for (int j = 0; j < 256; ++j) {
      const double wanted = decode_float8(kE4M3FN, static_cast<std::uint8_t>(i)) * decode_float8(kE4M3FN, static_cast<std::uint8_t>(j));
      if (std::isnan(wanted)) EXPECT_TRUE(std::isnan(sums[j])) << i << " " << j;
      else EXPECT_EQ(static_cast<double>(sums[j]), wanted) << i << " " << j;
    }
  }
}

TEST(E4M3Sums, cut_off_what_is_below_13_bits_of_the_largest_term) {
  EXPECT_EQ(step(0, {256, 0.125}, {1, 0.25}), 256 + 0x1p-5f);         // 13 bits below 256
  EXPECT_EQ(step(0, {256, 0.125}, {1, 0.125}), 256.0f);               // 14
  EXPECT_EQ(step(0, {256, 0.125, 0.125}, {1, 0.125, 0.125}), 256.0f);  // each for itself
  EXPECT_EQ(step(0, {256, 0.125}, {1, 0.375}), 256 + 0x1p-5f);        // towards zero
  EXPECT_EQ(step(0, {256, -0.125}, {1, 0.375}), 256 - 0x1p-5f);       // both ways
  EXPECT_EQ(step(0, {256, -256, 0.125}, {1, 1, 0.125}), 0.0f);        // before they are added
}

TEST(E4M3Sums, align_to_the_sum_of_the_exponents_and_to_the_sum_before) {
  EXPECT_EQ(step(0, {1.5, 0x1p-6, -1.5}, {1.5, 0x1p-7, 1}), 0.75f + 0x1p-13f);  // 2.25 has the exponent 0 + 0 of its factors
  EXPECT_EQ(step(2.25f, {0x1p-6}, {0x1p-7}), 2.25f);                   // a sum has its own
  EXPECT_EQ(step(2.25f, {0x1p-6}, {0x1p-6}), 2.25f + 0x1p-12f);
  EXPECT_EQ(step(0x1p-20f, {1}, {1}), 1.0f);
}

TEST(E4M3Sums, keep_13_bits_of_a_mantissa) {
  EXPECT_EQ(step(0, {1.875, 1.875, 0x1p-6}, {1.875, 1.875, 0x1p-7}), 7.03125f);  // 2^-13 was added, and is lost in a sum of exponent 2
  EXPECT_EQ(step(0, {}, {}), 0.0f);
}

TEST(E4M3Sums, of_a_nan_are_nan_in_its_row_and_column) {
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(step(0, {nan, 1}, {0, 1})));
  EXPECT_TRUE(std::isnan(step(0, {0, 1}, {nan, 1})));
  EXPECT_TRUE(std::isnan(step(std::nanf(""), {1}, {1})));
}

constexpr int kRows = 32, kColumns = 64;

// Codes of normal numbers, each row by its largest.
std::vector<std::uint8_t> quantised(int rows, int terms, bool is_positive, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::uint8_t> codes;
  for (int r = 0; r < rows; ++r) {
    std::vector<double> row(static_cast<std::size_t>(terms));
    for (double& value : row) value = is_positive ? std::abs(normal(random)) : normal(random);
    const double largest = std::abs(*std::max_element(row.begin(), row.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    for (const double value : row) codes.push_back(code_of(value / largest * 448));
  }
  return codes;
}

struct Errors {
  double frobenius = 0, mean_signed = 0;  // relative to the sums
};

// promoted = 0: never.
Errors errors(int terms, int promoted, bool is_positive) {
  const std::vector<std::uint8_t> a = quantised(kRows, terms, is_positive, 1), b = quantised(kColumns, terms, is_positive, 2);
  std::vector<float> parts(kRows * kColumns), sums(kRows * kColumns);
  std::vector<double> exact(kRows * kColumns);
  const auto at = [&](const std::vector<std::uint8_t>& codes, int row, int k) { return codes[static_cast<std::size_t>(row * terms + k)]; };
  for (int first = 0; first < terms; first += kE4M3Terms) {
    E4M3Columns columns(kColumns);
    for (int j = 0; j < kColumns; ++j)
      for (int k = 0; k < kE4M3Terms; ++k) columns.set(k, j, at(b, j, first + k));
    for (int i = 0; i < kRows; ++i) {
      float* const row = &parts[static_cast<std::size_t>(i * kColumns)];
      add_e4m3_products(row, &a[static_cast<std::size_t>(i * terms + first)], columns);
      for (int j = 0; j < kColumns; ++j)
        for (int k = first; k < first + kE4M3Terms; ++k) exact[static_cast<std::size_t>(i * kColumns + j)] += static_cast<double>(from_e4m3(at(a, i, k))) * from_e4m3(at(b, j, k));
    }
    if (promoted == 0 || (first + kE4M3Terms) % promoted != 0) continue;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += parts[i], parts[i] = 0;
  }
  double squares = 0, off = 0, total = 0, signed_off = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double error = static_cast<double>(sums[i]) + static_cast<double>(parts[i]) - exact[i];
    squares += exact[i] * exact[i], off += error * error;
    total += std::abs(exact[i]), signed_off += exact[i] < 0 ? -error : error;
  }
  return {std::sqrt(off / squares), signed_off / total};
}

// Measured on an H200 over 256 x 512 sums of quantised normal numbers: relative Frobenius errors.
struct Measured {
  int terms, promoted;
  bool is_positive;
  double frobenius;
};
class E4M3Errors : public testing::TestWithParam<Measured> {};

TEST_P(E4M3Errors, are_those_of_the_hardware) {
  const Measured& one = GetParam();
  EXPECT_NEAR(errors(one.terms, one.promoted, one.is_positive).frobenius, one.frobenius, 0.15 * one.frobenius);
}

constexpr Measured kMeasured[] = {
    {128, 0, false, 1.3e-4},   {1024, 0, false, 5.4e-4},   {4096, 0, false, 1.3e-3},   {1024, 128, false, 1.3e-4}, {4096, 128, false, 1.3e-4}, {1024, 256, false, 2.1e-4}, {1024, 512, false, 3.4e-4},
    {128, 0, true, 6.3e-4},    {1024, 0, true, 1.5e-2},    {4096, 0, true, 6.6e-2},    {1024, 128, true, 6.3e-4},  {4096, 128, true, 6.0e-4},  {4096, 256, true, 2.0e-3},  {4096, 512, true, 5.7e-3},
};
INSTANTIATE_TEST_SUITE_P(H200, E4M3Errors, testing::ValuesIn(kMeasured), [](const auto& one) {
  const Measured& m = one.param;
  return "of_" + std::to_string(m.terms) + (m.is_positive ? "_positive" : "") + (m.promoted == 0 ? "_plain" : "_every_" + std::to_string(m.promoted));
});

TEST(E4M3Errors, of_positive_terms_are_all_towards_zero) {
  const Errors plain = errors(4096, 0, true);
  EXPECT_NEAR(plain.mean_signed, -plain.frobenius, 0.02 * plain.frobenius);
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
