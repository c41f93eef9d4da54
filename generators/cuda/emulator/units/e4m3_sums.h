// How Hopper's tensor cores add products of codes of E4M3: not as floats do.
#pragma once

#include <cstdint>

namespace kiln::generators::cuda::emulator {

inline constexpr int kE4M3Terms = 32;     // of one wgmma m64nNk32
inline constexpr int kMostE4M3Columns = 256;

// 32 rows of n columns, decoded: value(k, j) at k * n + j.
struct E4M3Columns {
  explicit E4M3Columns(int columns) : n(columns) {}
  void set(int k, int j, std::uint8_t code);

  int n;
  float values[kE4M3Terms * kMostE4M3Columns];
  std::int32_t exponents[kE4M3Terms * kMostE4M3Columns];  // subnormals have that of the smallest normal numbers; zeros one below all others
  bool has_nan[kMostE4M3Columns] = {};
};

// sums[j] += sum over k of row[k] * columns(k, j), by the rule of the hardware: the 32 exact products and the sum that they are added to are aligned to the
// largest exponent among them (of a product: the sum of its factors' exponents), each is cut off, towards zero, below 13 bits under that exponent's, they are
// added exactly, and the result keeps 13 bits of a mantissa, the rest cut off. A NaN makes NaN.
// Source: MMA-Sim (2025) finds this rule for E4M3 on Hopper by bits, DeepSeek-V3's report (2024) "about 14 bits". That 13 is meant and truncation: on an H200
// sums of 256x512xK quantised normal numbers differ from exact ones by 1.3e-3 (relative Frobenius; K = 4096), 6.6e-2 where all are positive; 13 bits give the
// same within 2 %, 14 bits 0.4 of it, 12 bits 2.4 times.
void add_e4m3_products(float* sums, const std::uint8_t* row, const E4M3Columns& columns);

}  // namespace kiln::generators::cuda::emulator
