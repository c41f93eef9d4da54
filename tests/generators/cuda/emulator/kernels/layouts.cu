// D[64, 64] = A B, one tile: every swizzle (SPAN bytes a row; 16: none, K-major only) with K-major and MN-major operands (A_MN, B_MN).
#include "types.cuh"
#include "barriers.cuh"
#include "copies.cuh"
#include "mma.cuh"
#include "moves.cuh"
#include "wgmma_bf16.cuh"

constexpr int N = 64, K = 64, PER_SPAN = SPAN / 2;
DEV u64 descriptor(u32 address, u32 leading, u32 stride) {
  return (u64)(SPAN == 128 ? 1 : SPAN == 64 ? 2 : SPAN == 32 ? 3 : 0) << 62 | (u64)(stride >> 4) << 32 | (u64)(leading >> 4) << 16 | (address & 0x3FFFF) >> 4;
}
// K-major: [K / PER_SPAN][rows][PER_SPAN]; MN-major: [rows / PER_SPAN][K][PER_SPAN].
template <bool MN> DEV u64 step(u32 base, int kk) {
  if (MN) return descriptor(base + kk * 16 * SPAN, K * SPAN, 8 * SPAN);
  return descriptor(base + kk * 16 / PER_SPAN * 64 * SPAN + kk * 16 % PER_SPAN * 2, 64 * SPAN, 8 * SPAN);
}

extern "C" __global__ void __launch_bounds__(128) layouts(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, float* d) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 a = smem_u32(smem_raw), b = a + 8192, bar = b + 8192;
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbar_init();
    mbar_expect_tx(bar, 16384);
    for (int i = 0; i < 64 / PER_SPAN; ++i) {
      tma_load(a + i * 64 * SPAN, &map_a, bar, i * PER_SPAN, 0, HINT_NORMAL);
      tma_load(b + i * 64 * SPAN, &map_b, bar, i * PER_SPAN, 0, HINT_NORMAL);
    }
  }
  __syncthreads();
  mbar_wait(bar, 0);
  float acc[N / 2];
  wgmma_fence();
  for (int kk = 0; kk < K / 16; ++kk) Wgmma<N, A_MN, B_MN>::mma(acc, step<A_MN>(a, kk), step<B_MN>(b, kk), kk != 0);
  wgmma_commit();
  wgmma_wait<0>();
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < N / 2; ++i) d[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + column + i % 2] = acc[i];
}
