// D[64, n] = A B for each n that wgmma has: one tile with 128 bytes of k, of bf16 or E4M3 (E4M3), B K-major or MN-major (B_MN).
#include "types.cuh"
#include "barriers.cuh"
#include "copies.cuh"
#include "mma.cuh"
#include "moves.cuh"
#include "wgmma_bf16.cuh"
#include "wgmma_e4m3.cuh"

template <int N> DEV void product(u32 a, u32 b, float* d) {
  float acc[N / 2];
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const u64 p = wgmma_desc(a + step * 32, 16), q = B_MN ? wgmma_desc(b + step * 16 * 128, 64 * 128) : wgmma_desc(b + step * 32, 16);
    if constexpr (E4M3) WgmmaE4M3<N>::mma(acc, p, q, step != 0);
    else Wgmma<N, 0, B_MN>::mma(acc, p, q, step != 0);
  }
  wgmma_commit();
  wgmma_wait<0>();
  pin(acc);
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < N / 2; ++i) d[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + column + i % 2] = acc[i];
}
template <int N> DEV void product_of_width(int n, u32 a, u32 b, float* d) {
  if (n == N) product<N>(a, b, d);
  else if constexpr (N < 256) product_of_width<N + 8>(n, a, b, d);
}

extern "C" __global__ void __launch_bounds__(128) every_width(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, float* d, int n) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 a = smem_u32(smem_raw), b = a + 8192, bar = b + 32768;
  if (threadIdx.x == 0) {
    tma_prefetch_map(&map_a);
    mbar_init(bar, 1);
    fence_mbar_init();
    const int boxes = B_MN ? (n + 63) / 64 : 1;
    mbar_expect_tx(bar, 8192 + (B_MN ? boxes * 8192 : n * 128));
    tma_load(a, &map_a, bar, 0, 0, HINT_EVICT_LAST);
    for (int i = 0; i < boxes; ++i) tma_load(b + i * 8192, &map_b, bar, i * 64, 0, HINT_NORMAL);
  }
  __syncthreads();
  mbar_wait(bar, 0);
  product_of_width<8>(n, a, b, d);
}
