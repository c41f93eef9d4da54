// The 8-bit floats of dsl/float8.h in algorithms: expressions that encode into UInt(8) and decode from it. They are made of integer operations on bits
// alone, so that no flag of a compiler and no schedule changes what they give. Header only: a generator needs nothing but this include.
//   q(n, m) = kiln::encode_float8(kiln::kE4M3FN, x(n, m) * scale(m));
//   y(n, m) = kiln::decode_float8(kiln::kE4M3FN, q(n, m)) / scale(m);
#pragma once

#include <Halide.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "dsl/float8.h"

namespace kiln {

// The code of a value of type f32, f16 or bf16, as UInt(8): rounds and saturates like the function on doubles. The value stands in the expression
// several times; one that is long belongs in a Func of its own. Throws std::invalid_argument for other types.
inline Halide::Expr encode_float8(const Float8& format, const Halide::Expr& value) {
  using Halide::Expr;
  if (!value.type().is_float() || value.type().bits() > 32)
    throw std::invalid_argument("encode_float8 takes f32, f16 or bf16: what is wider would be rounded twice; cast it first");
  const Expr bits = Halide::reinterpret<std::uint32_t>(Halide::cast<float>(value));
  const Expr magnitude = bits & Expr(0x7fffffffu);
  const Expr exponent = magnitude >> Expr(23u);
  const Expr significand = (magnitude & Expr(0x7fffffu)) | Expr(0x800000u);  // of 24 bits; too large for what f32 holds below 2^-126, which rounds to 0
  // Of them `dropped` do not fit a normal number. Below the smallest one steps stay the same size, so that more drop out; from two more than the mantissa has
  // on, the whole significand is less than half a step.
  const auto mantissa = static_cast<std::uint32_t>(format.mantissa_bits), dropped = 23 - mantissa;
  const auto smallest = static_cast<std::uint32_t>(127 + 1 - format.exponent_bias);  // the f32 exponent of the smallest normal number
  const Expr shift = Expr(dropped) + Halide::min(Expr(smallest) - Halide::min(exponent, Expr(smallest)), Expr(mantissa + 2));
  const Expr is_odd = (significand >> shift) & Expr(1u);
  const Expr below_half = (Expr(1u) << (shift - Expr(1u))) - Expr(1u);
  const Expr rounded = (significand + below_half + is_odd) >> shift;
  // A significand that rounds up to the next power of two carries into the exponent.
  const Expr code = ((Halide::max(exponent, Expr(smallest)) - Expr(smallest)) << Expr(mantissa)) + rounded;
  const Expr with_sign = Halide::min(code, Expr(static_cast<std::uint32_t>(format.largest))) | ((bits >> Expr(24u)) & Expr(0x80u));
  const Expr is_nan = magnitude > Expr(0x7f800000u);
  return Halide::cast<std::uint8_t>(Halide::select(is_nan, Expr(static_cast<std::uint32_t>(kFloat8Nan)), with_sign));
}

// The number that a UInt(8) stands for, as f32, which holds all of them. Throws std::invalid_argument for other types.
inline Halide::Expr decode_float8(const Float8& format, const Halide::Expr& code) {
  using Halide::Expr;
  if (code.type() != Halide::UInt(8)) throw std::invalid_argument("decode_float8 takes UInt(8)");
  const auto mantissa = static_cast<std::uint32_t>(format.mantissa_bits);
  const Expr wide = Halide::cast<std::uint32_t>(code), magnitude = wide & Expr(0x7fu);
  const Expr normal = (magnitude << Expr(23 - mantissa)) + Expr(static_cast<std::uint32_t>(127 - format.exponent_bias) << 23);
  const float step = std::ldexp(1.0f, 1 - format.exponent_bias - format.mantissa_bits);
  const Expr subnormal = Halide::reinterpret<std::uint32_t>(Halide::cast<float>(Halide::cast<std::int32_t>(magnitude)) * step);  // exact
  Expr bits = Halide::select(magnitude < Expr(1u << mantissa), subnormal, normal);
  bits = Halide::select(magnitude > Expr(static_cast<std::uint32_t>(format.largest)), Expr(0x7fc00000u), bits);
  if (format.has_infinity) bits = Halide::select(magnitude == Expr(static_cast<std::uint32_t>(format.largest) + 1), Expr(0x7f800000u), bits);
  return Halide::reinterpret<float>(bits | ((wide & Expr(0x80u)) << Expr(24u)));
}

}  // namespace kiln
