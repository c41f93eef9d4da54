// The tensor cores: wgmma's synchronisation and descriptors, and mma.sync. The wgmma instructions themselves: wgmma_bf16.cuh.
#pragma once

DEV void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int GROUPS> DEV void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory"); }

// Descriptor of an operand in shared memory, 128-byte swizzle; addresses and strides are stored divided by 16 (PTX ISA, "Asynchronous warpgroup
// level matrix shared memory layout").
//   K-major tile  [rows][64 k]: 1024 bytes to the next 8 rows; lbo_bytes is not used.
//   MN-major tile [mn/64][k][64 mn]: 1024 bytes to the next 8 k, lbo_bytes to the next 64 mn.
DEV u64 wgmma_desc(u32 address, u32 lbo_bytes) {
  return ((u64)1 << 62) | ((u64)(1024 >> 4) << 32) | ((u64)(lbo_bytes >> 4) << 16) | (u64)((address & 0x3FFFF) >> 4);
}

// c += a b for 16x16 by 16x8 of bf16. Lane 4 g + t holds rows g and g + 8 of a and column g of b, both at k = 2t, 2t + 1, 2t + 8, 2t + 9, and
// c = {(g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)}.
DEV void mma_16816(float* c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
