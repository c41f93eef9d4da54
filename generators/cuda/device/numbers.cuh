// Conversions and the approximate functions of the special-function unit. The conversions round to nearest even.
#pragma once

DEV float bf16_lo(u32 v) { return __uint_as_float(v << 16); }
DEV float bf16_hi(u32 v) { return __uint_as_float(v & 0xFFFF0000u); }
DEV u32 pack_bf16(float lo, float hi) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r; }
DEV float f16_lo(u32 v) { float r; asm("{\n.reg .b16 lo, hi;\nmov.b32 {lo, hi}, %1;\ncvt.f32.f16 %0, lo;\n}" : "=f"(r) : "r"(v)); return r; }
DEV float f16_hi(u32 v) { float r; asm("{\n.reg .b16 lo, hi;\nmov.b32 {lo, hi}, %1;\ncvt.f32.f16 %0, hi;\n}" : "=f"(r) : "r"(v)); return r; }
DEV u32 pack_f16(float lo, float hi) { u32 r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r; }
// Two E4M3 values, saturated to 448.
DEV u16 pack_e4m3(float lo, float hi) { u16 r; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(hi), "f"(lo)); return r; }
DEV u32 low_halves(u32 a, u32 b) { return __byte_perm(a, b, 0x5410); }   // {low of a, low of b}
DEV u32 high_halves(u32 a, u32 b) { return __byte_perm(a, b, 0x7632); }  // {high of a, high of b}

DEV float fast_exp2(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEV float fast_log2(float x) { float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEV float fast_rcp(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEV float fast_rsqrt(float x) { float y; asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEV float fast_tanh(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
