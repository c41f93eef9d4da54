// Conversions and approximate functions, as in generators/cuda/device/numbers.cuh. What the hardware approximates is exact here, so a test compares
// within a tolerance, never bits; with .ftz, subnormal numbers are zero here too.
#pragma once

namespace kiln_device {

DEV float bf16_lo(u32 v) { return __uint_as_float(v << 16); }
DEV float bf16_hi(u32 v) { return __uint_as_float(v & 0xFFFF0000u); }
u32 pack_bf16(float lo, float hi);
float f16_lo(u32 v);
float f16_hi(u32 v);
u32 pack_f16(float lo, float hi);
u16 pack_e4m3(float lo, float hi);
DEV u32 low_halves(u32 a, u32 b) { return (a & 0xFFFFu) | b << 16; }
DEV u32 high_halves(u32 a, u32 b) { return a >> 16 | (b & 0xFFFF0000u); }

float fast_exp2(float x);
float fast_log2(float x);
float fast_rcp(float x);
float fast_rsqrt(float x);
float fast_tanh(float x);

}  // namespace kiln_device
