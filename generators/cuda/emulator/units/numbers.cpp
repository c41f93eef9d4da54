// Conversions as the hardware rounds them, and exact values of what it approximates.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "generators/cuda/emulator/units/device.h"

namespace kiln_device {
namespace {

u32 to_bf16(float f) {
  u32 bits;
  std::memcpy(&bits, &f, 4);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FFF;  // every NaN becomes this one
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

// Subnormals share the exponent -14; 65520 is half-way to what would come next.
u32 to_f16(float f) {
  const u32 sign = std::signbit(f) ? 0x8000 : 0;
  const float magnitude = std::fabs(f);
  if (std::isnan(f)) return 0x7FFF;  // every NaN becomes this one
  if (magnitude >= 65520.f) return sign | 0x7C00;
  const int exponent = magnitude < 0x1p-14f ? -14 : std::ilogb(magnitude);
  const u32 parts = static_cast<u32>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));  // 1024 to 2048, or 0 to 1024 for a subnormal
  return sign | (exponent == -14 && parts < 1024 ? parts : (static_cast<u32>(exponent + 15) << 10) + parts - 1024);
}

float from_f16(u32 bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
  float magnitude = std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 1024), (exponent == 0 ? 1 : exponent) - 25);
  if (exponent == 31) magnitude = fraction != 0 ? std::nanf("") : HUGE_VALF;
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Saturates to 448; 464 is half-way to what would come next. Subnormals share the exponent -6.
u32 to_e4m3(float f) {
  const u32 sign = std::signbit(f) ? 0x80 : 0;
  const float magnitude = std::fabs(f);
  if (std::isnan(f)) return 0x7F;  // of either sign
  if (magnitude >= 464.f) return sign | 0x7E;
  const int exponent = magnitude < 0x1p-6f ? -6 : std::ilogb(magnitude);
  const u32 eighths = static_cast<u32>(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));  // 8 to 16, or 0 to 8 for a subnormal
  const u32 code = exponent == -6 && eighths < 8 ? eighths : (static_cast<u32>(exponent + 7) << 3) + eighths - 8;
  return sign | std::min(code, 0x7Eu);
}

// .ftz: a subnormal number counts as the zero of its sign.
float flushed(float f) { return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.f, f) : f; }

}  // namespace

u32 pack_bf16(float lo, float hi) { return to_bf16(lo) | to_bf16(hi) << 16; }
float f16_lo(u32 v) { return from_f16(v & 0xFFFF); }
float f16_hi(u32 v) { return from_f16(v >> 16); }
u32 pack_f16(float lo, float hi) { return to_f16(lo) | to_f16(hi) << 16; }
u16 pack_e4m3(float lo, float hi) { return static_cast<u16>(to_e4m3(lo) | to_e4m3(hi) << 8); }

float fast_exp2(float x) { return flushed(std::exp2(flushed(x))); }
float fast_log2(float x) { return flushed(std::log2(flushed(x))); }
float fast_rcp(float x) { return flushed(1.f / flushed(x)); }
float fast_rsqrt(float x) { return flushed(1.f / std::sqrt(flushed(x))); }
float fast_tanh(float x) { return std::tanh(x); }

}  // namespace kiln_device
