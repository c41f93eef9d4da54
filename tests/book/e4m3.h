// E4M3FN in a byte: 1 sign, 4 exponent bits of bias 7, 3 mantissa bits, largest 448. Round to nearest even, saturating; no NaN comes in.
#pragma once

#include <Halide.h>

namespace kiln::book {

inline Halide::Expr power_of_two(const Halide::Expr& exponent) { return Halide::reinterpret<float>((exponent + 127) << 23); }

inline Halide::Expr to_e4m3(const Halide::Expr& x) {
  const Halide::Expr size = min(abs(x), 448.0f);
  const Halide::Expr exponent = max((Halide::reinterpret<int>(size) >> 23) - 127, -6);  // below 2^-6 the steps stay as wide
  const Halide::Expr steps = Halide::cast<int>(round(size / power_of_two(exponent - 3)));   // 8 to 16, or 0 to 8 below 2^-6
  return Halide::cast<std::uint8_t>(((exponent + 6) << 3) + steps + select(x < 0, 128, 0));
}

inline Halide::Expr from_e4m3(const Halide::Expr& code) {
  const Halide::Expr bits = Halide::cast<int>(code) & 127, exponent = bits >> 3, mantissa = bits & 7;
  const Halide::Expr size = select(exponent == 0, Halide::cast<float>(mantissa) * power_of_two(-9),
                                   Halide::cast<float>(mantissa + 8) * power_of_two(exponent - 10));
  return select(code >= 128, -size, size);
}

}  // namespace kiln::book
