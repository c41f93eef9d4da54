// The tensor cores, as in generators/cuda/device/mma.cuh.
#pragma once

namespace kiln_device {

void wgmma_wait_(int groups, int line);
enum class Element_ { e4m3, bf16, f16 };  // of both operands
void issue_wgmma_(Element_ element, int n, int ta, int tb, float* d, u64 a, u64 b, int scale_d, int line);

void wgmma_fence(KILN_LINE);
void wgmma_commit(KILN_LINE);
template <int GROUPS> DEV void wgmma_wait(KILN_LINE) { wgmma_wait_(GROUPS, line); }

// The accumulators' uses are checked one by one: nothing is to be pinned.
template <int N> DEV void pin(float (&)[N]) {}

DEV u64 wgmma_desc(u32 address, u32 lbo_bytes) {
  return ((u64)1 << 62) | ((u64)(1024 >> 4) << 32) | ((u64)(lbo_bytes >> 4) << 16) | (u64)((address & 0x3FFFF) >> 4);
}

void mma_16816(float* c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, KILN_LINE);

}  // namespace kiln_device
