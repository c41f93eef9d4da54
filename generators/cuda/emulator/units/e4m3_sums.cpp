#include "generators/cuda/emulator/units/e4m3_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace kiln::generators::cuda::emulator {
namespace {

constexpr int kBits = 13;             // under the largest exponent, and of the result's mantissa
constexpr int kOfZero = -64;          // under that of all products, -12
constexpr int kFloatBits = 23;

struct Decoded {
  float value = 0;
  std::int32_t exponent = kOfZero;
  bool is_nan = false;
};

// OCP FP8: 4 bits of exponent with bias 7, subnormals, no infinities.
Decoded decode(int code) {
  const int exponent = code >> 3 & 15, fraction = code & 7;
  if ((code & 0x7F) == 0x7F) return {.is_nan = true};
  if ((code & 0x7F) == 0) return {};
  const float magnitude = std::ldexp(static_cast<float>(exponent == 0 ? fraction : 8 + fraction), std::max(exponent, 1) - 10);
  return {(code & 0x80) != 0 ? -magnitude : magnitude, std::max(exponent, 1) - 7};
}

const Decoded& decoded(std::uint8_t code) {
  static const std::array<Decoded, 256> all = [] {
    std::array<Decoded, 256> table;
    for (int i = 0; i < 256; ++i) table[static_cast<std::size_t>(i)] = decode(i);
    return table;
  }();
  return all[code];
}

// Where most of the time goes: in steps over all columns, which become vectors.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("arch=haswell", "default")))
#endif
void add_aligned(float* sums, const float* values, const std::int32_t* exponents, const E4M3Columns& columns) {
  const int n = columns.n;
  std::int32_t largest[kMostE4M3Columns], total[kMostE4M3Columns];
  float scale[kMostE4M3Columns];
  for (int j = 0; j < n; ++j) {
    const auto bits = std::bit_cast<std::int32_t>(sums[j]);
    largest[j] = std::max((bits >> kFloatBits & 255) - 127, 2 * kOfZero);
  }
  for (int k = 0; k < kE4M3Terms; ++k)
    for (int j = 0; j < n; ++j) largest[j] = std::max(largest[j], exponents[k] + columns.exponents[k * n + j]);
  for (int j = 0; j < n; ++j) {
    largest[j] = std::max(largest[j], kOfZero);  // all are zero: any scale
    scale[j] = std::bit_cast<float>((kBits - largest[j] + 127) << kFloatBits);
    total[j] = static_cast<std::int32_t>(sums[j] * scale[j]);
  }
  for (int k = 0; k < kE4M3Terms; ++k)
    for (int j = 0; j < n; ++j) total[j] += static_cast<std::int32_t>(values[k] * columns.values[k * n + j] * scale[j]);
  for (int j = 0; j < n; ++j) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(total[j]));  // 33 terms below 2^15: exact
    sums[j] = std::bit_cast<float>(bits >> (kFloatBits - kBits) << (kFloatBits - kBits));
    sums[j] /= scale[j];
  }
}

}  // namespace

void E4M3Columns::set(int k, int j, std::uint8_t code) {
  const Decoded& one = decoded(code);
  values[k * n + j] = one.value;
  exponents[k * n + j] = one.exponent;
  has_nan[j] = has_nan[j] || one.is_nan;
}

void add_e4m3_products(float* sums, const std::uint8_t* row, const E4M3Columns& columns) {
  float values[kE4M3Terms];
  std::int32_t exponents[kE4M3Terms];
  bool has_nan = false, was_nan[kMostE4M3Columns];
  for (int k = 0; k < kE4M3Terms; ++k) {
    const Decoded& one = decoded(row[k]);
    values[k] = one.value;
    exponents[k] = one.exponent;
    has_nan = has_nan || one.is_nan;
  }
  for (int j = 0; j < columns.n; ++j) {
    was_nan[j] = has_nan || columns.has_nan[j] || std::isnan(sums[j]);
    if (was_nan[j]) sums[j] = 0;
  }
  add_aligned(sums, values, exponents, columns);
  for (int j = 0; j < columns.n; ++j)
    if (was_nan[j]) sums[j] = std::nanf("");
}

}  // namespace kiln::generators::cuda::emulator
