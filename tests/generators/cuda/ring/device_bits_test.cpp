// Two sums of codes as an H200 gave them, of two kinds of ring kernels: the emulator's arithmetic gives them again, to the bit. Of the exact sums they are
// 2e-3 and 16 % off: elements in which large terms cancel, among codes whose exponents are uniform.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "autotune/measure/inputs.h"
#include "dsl/float8.h"
#include "generators/cuda/emulator/units/e4m3_sums.h"

namespace kiln::tests {
namespace {

namespace emulator = generators::cuda::emulator;

constexpr std::uint64_t kSeed = 20261130;
constexpr std::size_t kPromoted = 128;

Argument argument(const std::string& name, DType type, std::vector<double> values) {
  return {.name = name, .is_output = false, .is_scalar = false, .type = type, .rank = 1, .estimates = {}, .scalar_estimate = {}, .values = std::move(values), .range = {}};
}

std::vector<std::uint8_t> codes_of(const std::string& name, std::size_t row, std::size_t terms) {
  std::vector<std::uint8_t> all((row + 1) * terms);
  autotune::fill(std::as_writable_bytes(std::span(all)), argument(name, {TypeClass::unsigned_int, 8}, finite_codes(kE4M3FN)), kSeed);
  return {all.begin() + static_cast<std::ptrdiff_t>(row * terms), all.end()};
}

float scale_of(const std::string& name, std::size_t place) {
  std::vector<float> all(place + 1);
  autotune::fill(std::as_writable_bytes(std::span(all)), argument(name, kFloat32, {}), kSeed);
  return all.back();
}

// Of whole groups of 128 terms, each added up in f32.
float promoted_sum(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b, std::size_t from, std::size_t to) {
  float sum = 0;
  for (std::size_t group = from; group < to; ++group) {
    float part = 0;
    for (std::size_t first = group * kPromoted; first < (group + 1) * kPromoted; first += emulator::kE4M3Terms) {
      std::uint8_t row[emulator::kE4M3Terms] = {};
      emulator::E4M3Columns column(1);
      for (std::size_t k = 0; k < emulator::kE4M3Terms; ++k) {
        const bool is_inside = first + k < a.size();
        row[k] = is_inside ? a[first + k] : 0;
        column.set(static_cast<int>(k), 0, is_inside ? b[first + k] : 0);
      }
      emulator::add_e4m3_products(&part, row, column);
    }
    sum += part;
  }
  return sum;
}

float element(std::size_t m, std::size_t n, std::size_t terms, std::size_t parts) {
  const std::vector<std::uint8_t> a = codes_of("A", m, terms), b = codes_of("Bt", n, terms);
  const std::size_t groups = (terms + kPromoted - 1) / kPromoted;
  float sum = promoted_sum(a, b, 0, groups / parts);
  for (std::size_t part = 1; part < parts; ++part) sum += promoted_sum(a, b, groups * part / parts, groups * (part + 1) / parts);
  return sum * scale_of("row_scale", m) * scale_of("column_scale", n);
}

TEST(DeviceBits, of_a_sum_in_two_parts) { EXPECT_EQ(element(28, 65, 1296, 2), -328315.125f); }

TEST(DeviceBits, of_a_sum_that_was_rounded_to_f16) { EXPECT_EQ(std::nearbyint(element(8, 115, 656, 1)), -1767.0f); }

}  // namespace
}  // namespace kiln::tests
