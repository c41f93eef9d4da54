// The two 8-bit floats that tensors are stored in, E4M3FN and E5M2 (OCP OFP8, revision 1.0): as plain C++, for references and tests. In algorithms they
// are bytes, UInt(8), whose meaning is in the expressions of dsl/float8_halide.h; so there is no DType for them: problems, packages and stores see u8.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace kiln {

// A sign bit, an exponent, `mantissa_bits` of a mantissa; exponent 0 holds the subnormal numbers.
struct Float8 {
  std::string_view name;
  int mantissa_bits = 0;
  int exponent_bias = 0;
  std::uint8_t largest = 0;   // the code of the largest finite number; larger ones, without the sign, are the infinity, if there is one, then NaNs
  bool has_infinity = false;
};
inline constexpr Float8 kE4M3FN{"e4m3fn", 3, 7, 0x7e, false};  // up to 448, steps of 2^-9 around 0
inline constexpr Float8 kE5M2{"e5m2", 2, 15, 0x7b, true};      // up to 57344, steps of 2^-16 around 0

// What encoding makes of every NaN: positive, all other bits set, as cvt.rn.satfinite does on a GPU.
inline constexpr std::uint8_t kFloat8Nan = 0x7f;

inline double decode_float8(const Float8& format, std::uint8_t code) {
  const int magnitude = code & 0x7f, steps_per_binade = 1 << format.mantissa_bits;
  const int exponent = magnitude >> format.mantissa_bits, mantissa = magnitude % steps_per_binade;
  double value = exponent == 0 ? std::ldexp(mantissa, 1 - format.exponent_bias - format.mantissa_bits)
                               : std::ldexp(steps_per_binade + mantissa, exponent - format.exponent_bias - format.mantissa_bits);
  if (magnitude > format.largest) {
    const bool is_infinity = format.has_infinity && magnitude == format.largest + 1;
    value = is_infinity ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  return std::copysign(value, (code & 0x80) != 0 ? -1.0 : 1.0);
}

// Rounds once, to the nearest number, to the even code between two. What is larger than the largest number becomes it, infinity too; zeros keep
// their sign.
inline std::uint8_t encode_float8(const Float8& format, double value) {
  if (std::isnan(value)) return kFloat8Nan;
  const double magnitude = std::min(std::abs(value), decode_float8(format, format.largest));
  const int smallest_exponent = 1 - format.exponent_bias;  // of the normal numbers
  const int exponent = magnitude == 0 ? smallest_exponent : std::max(std::ilogb(magnitude), smallest_exponent);
  const double steps = std::ldexp(magnitude, format.mantissa_bits - exponent);  // exact
  int code = static_cast<int>(steps);
  const double rest = steps - code;
  if (rest > 0.5 || (rest == 0.5 && code % 2 == 1)) ++code;
  code += (exponent - smallest_exponent) * (1 << format.mantissa_bits);
  return static_cast<std::uint8_t>(std::signbit(value) ? code | 0x80 : code);
}

// Every code of a finite number: what a registration draws the elements of such an input from, since one NaN in 128 would leave no sum to check. Their
// exponents are uniform: a few large ones are most of a sum, which then tells little about the rest.
//   KILN_REGISTER(mine).values("weights", kiln::finite_codes(kiln::kE4M3FN))
inline std::vector<double> finite_codes(const Float8& format) {
  std::vector<double> codes;
  for (int code = 0; code < 256; ++code)
    if ((code & 0x7f) <= format.largest) codes.push_back(code);
  return codes;
}

// 256 codes of numbers that are normally distributed, of equal shares and so large that the largest is the format's largest: the codes of a row or
// column that was quantised by its largest magnitude, as weights and activations are. All terms of a sum are then of one order, and none is 0.
inline std::vector<double> normal_codes(const Float8& format) {
  constexpr int kCount = 256;
  const auto quantile = [](double share) {
    double low = -8, high = 8;
    for (int halvings = 0; halvings < 50; ++halvings) {
      const double middle = (low + high) / 2, below = 0.5 * std::erfc(-middle / std::sqrt(2.0));
      (below < share ? low : high) = middle;
    }
    return low;
  };
  const double scale = decode_float8(format, format.largest) / quantile((kCount - 0.5) / kCount);
  std::vector<double> codes;
  for (int i = 0; i < kCount / 2; ++i) {
    const std::uint8_t code = encode_float8(format, quantile((kCount / 2 + i + 0.5) / kCount) * scale);
    codes.insert(codes.end(), {static_cast<double>(code), static_cast<double>(code | 0x80)});
  }
  return codes;
}

}  // namespace kiln
