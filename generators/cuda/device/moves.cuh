// Values between registers, lanes, shared and global memory.
#pragma once

DEV u32 smem_u32(const void* p) { return (u32)__cvta_generic_to_shared(p); }

// ---- shared memory: 2, 4, 8 or 16 bytes at a multiple of their size; single ones are stored too
template <class T> union Words_ { T value; u32 w[sizeof(T) < 4 ? 1 : sizeof(T) / 4]; u16 half; };
template <class T> DEV T ld_shared(u32 address) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "2, 4, 8 or 16 bytes");
  Words_<T> v;
  if constexpr (sizeof(T) == 2) asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v.half) : "r"(address) : "memory");
  if constexpr (sizeof(T) == 4) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v.w[0]) : "r"(address) : "memory");
  if constexpr (sizeof(T) == 8) asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.w[0]), "=r"(v.w[1]) : "r"(address) : "memory");
  if constexpr (sizeof(T) == 16) asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3]) : "r"(address) : "memory");
  return v.value;
}
template <class T> DEV void st_shared(u32 address, T value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "1, 2, 4, 8 or 16 bytes");
  Words_<T> v;
  v.value = value;
  if constexpr (sizeof(T) == 1) asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "h"((u16)value) : "memory");
  if constexpr (sizeof(T) == 2) asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"(v.half) : "memory");
  if constexpr (sizeof(T) == 4) asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(v.w[0]) : "memory");
  if constexpr (sizeof(T) == 8) asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(v.w[0]), "r"(v.w[1]) : "memory");
  if constexpr (sizeof(T) == 16) asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3]) : "memory");
}
// Shared memory of another block, at an address from mapa.
DEV float ld_cluster(u32 address) { float v; asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(address) : "memory"); return v; }
DEV void st_cluster(u32 address, float v) { asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(v) : "memory"); }

// ---- lanes of a warp
DEV u32 shfl_idx(u32 v, int lane) { return __shfl_sync(0xFFFFFFFFu, v, lane); }
DEV float shfl_xor(float v, int mask) { return __shfl_xor_sync(0xFFFFFFFFu, v, mask); }
DEV float shfl_down(float v, int lanes) { return __shfl_down_sync(0xFFFFFFFFu, v, lanes); }

// ---- 8x8 matrices of 16-bit elements: lane i gives the address of row i % 8 of matrix i / 8 and holds elements 2 * (i % 4), + 1 of row i / 4
DEV void stmatrix_x4(u32 address, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
DEV void stmatrix_x4_trans(u32 address, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
DEV void stmatrix_x2_trans(u32 address, u32 a, u32 b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(a), "r"(b) : "memory");
}
DEV void ldmatrix_x4(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}
DEV void ldmatrix_x4_trans(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}
