// After types, numbers: the elements of a vector of words, one at a time, and whole-number division as the language has it. Made of the other files'
// functions alone: the emulator reads this very file.
#pragma once

// The nearest bf16, ties to even, as a float.
DEV float round_bf16(float v) { return bf16_lo(pack_bf16(v, 0.0f)); }
// The nearest f16.
DEV float round_f16(float v) { return f16_lo(pack_f16(v, 0.0f)); }

DEV float bf16_at(const u32* w, int i) { return i % 2 == 0 ? bf16_lo(w[i / 2]) : bf16_hi(w[i / 2]); }
DEV float f16_at(const u32* w, int i) { return i % 2 == 0 ? f16_lo(w[i / 2]) : f16_hi(w[i / 2]); }
DEV float f32_at(const u32* w, int i) { return __uint_as_float(w[i]); }
DEV u32 u32_at(const u32* w, int i) { return w[i]; }
DEV int i32_at(const u32* w, int i) { return (int)w[i]; }
DEV u16 u16_at(const u32* w, int i) { return (u16)(w[i / 2] >> i % 2 * 16); }
DEV short i16_at(const u32* w, int i) { return (short)u16_at(w, i); }
DEV u8 u8_at(const u32* w, int i) { return (u8)(w[i / 4] >> i % 4 * 8); }
DEV signed char i8_at(const u32* w, int i) { return (signed char)u8_at(w, i); }

// N elements into their words. bf16, f16 and E4M3 round to nearest even; E4M3 saturates at 448.
template <int N> DEV void put_bf16(u32* w, const float (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N / 2; ++i) w[i] = pack_bf16(v[2 * i], v[2 * i + 1]);
}
template <int N> DEV void put_f16(u32* w, const float (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N / 2; ++i) w[i] = pack_f16(v[2 * i], v[2 * i + 1]);
}
template <int N> DEV void put_f32(u32* w, const float (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) w[i] = __float_as_uint(v[i]);
}
template <int N> DEV void put_e4m3(u32* w, const float (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N / 4; ++i) w[i] = pack_e4m3(v[4 * i], v[4 * i + 1]) | (u32)pack_e4m3(v[4 * i + 2], v[4 * i + 3]) << 16;
}
template <int N, class T> DEV void put_32(u32* w, const T (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) w[i] = (u32)v[i];
}
template <int N, class T> DEV void put_16(u32* w, const T (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N / 2; ++i) w[i] = (u32)(u16)v[2 * i] | (u32)(u16)v[2 * i + 1] << 16;
}
template <int N, class T> DEV void put_8(u32* w, const T (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N / 4; ++i) w[i] = (u32)(u8)v[4 * i] | (u32)(u8)v[4 * i + 1] << 8 | (u32)(u8)v[4 * i + 2] << 16 | (u32)(u8)v[4 * i + 3] << 24;
}

// Halide's division: what remains is never negative, and by zero is zero.
template <class T> DEV T floor_div(T a, T b) {
  if (b == 0) return 0;
  const T quotient = a / b, rest = a - quotient * b;
  return rest >= 0 ? quotient : b > 0 ? quotient - 1 : quotient + 1;
}
template <class T> DEV T floor_mod(T a, T b) { return b == 0 ? 0 : a - floor_div(a, b) * b; }

// A square of words, or of halves, in 16-byte vectors: rows become columns.
DEV void turn_32(const Vec<16> (&a)[4], Vec<16> (&b)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) b[j].w[i] = a[i].w[j];
}
DEV void turn_16(const Vec<16> (&a)[8], Vec<16> (&b)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      b[j].w[i] = j % 2 == 0 ? low_halves(a[2 * i].w[j / 2], a[2 * i + 1].w[j / 2]) : high_halves(a[2 * i].w[j / 2], a[2 * i + 1].w[j / 2]);
}
