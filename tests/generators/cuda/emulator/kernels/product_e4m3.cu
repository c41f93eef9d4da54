// D[64, 64] = A[64, 128] B[64, 128] of E4M3: one tile, four wgmmas of 32 bytes of k.
#include "types.cuh"
#include "barriers.cuh"
#include "copies.cuh"
#include "mma.cuh"
#include "moves.cuh"
#include "wgmma_e4m3.cuh"

extern "C" __global__ void __launch_bounds__(128) product_e4m3(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, float* d) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 a = smem_u32(smem_raw), b = a + 8192, bar = b + 8192;
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbar_init();
    mbar_expect_tx(bar, 16384);
    tma_load(a, &map_a, bar, 0, 0, HINT_NORMAL);
    tma_load(b, &map_b, bar, 0, 0, HINT_NORMAL);
  }
  __syncthreads();
  mbar_wait(bar, 0);
  float acc[32];
  wgmma_fence();
  for (int step = 0; step < 4; ++step) WgmmaE4M3<64>::mma(acc, wgmma_desc(a + step * 32, 16), wgmma_desc(b + step * 32, 16), step != 0);
  wgmma_commit();
  wgmma_wait<0>();
  pin(acc);
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 32; ++i) d[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + column + i % 2] = acc[i];
}
