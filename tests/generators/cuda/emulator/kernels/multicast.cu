// C[128, 64] = X[128, K] W[64, K] in float: two blocks of a cluster take 64 rows of X each; each loads half of the rows of W and multicasts them to both.
#include "types.cuh"
#include "barriers.cuh"
#include "copies.cuh"
#include "mma.cuh"
#include "moves.cuh"
#include "wgmma_bf16.cuh"

constexpr int STAGES = 2, BYTES = 64 * 64 * 2, AT_Q = STAGES * BYTES, AT_FULL = 2 * STAGES * BYTES, AT_EMPTY = AT_FULL + STAGES * 8;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160)
multicast(const __grid_constant__ TensorMap map_x, const __grid_constant__ TensorMap map_w, float* c, int K) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 smem = smem_u32(smem_raw), rank = cluster_rank();
  const int t = threadIdx.x, blocks_k = (K + 63) / 64;
  auto full = [&](int s) { return smem + AT_FULL + s * 8; };
  auto empty = [&](int s) { return smem + AT_EMPTY + s * 8; };
  if (t == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbar_init(full(s), 1);
      mbar_init(empty(s), 2);
    }
    fence_mbar_init();
  }
  cluster_sync();  // the other block's barriers are initialised

  int s = 0;
  u32 phase = 0;
  if (t >= 128) {
    if (t == 128) {
      for (int k = 0; k < blocks_k; ++k) {
        mbar_wait(empty(s), phase ^ 1);
        mbar_expect_tx(full(s), 2 * BYTES);
        tma_load(smem + s * BYTES, &map_x, full(s), k * 64, rank * 64, HINT_NORMAL);
        tma_load_multicast(smem + AT_Q + s * BYTES + rank * (BYTES / 2), &map_w, full(s), k * 64, rank * 32, 3, HINT_NORMAL);
        if (++s == STAGES) { s = 0; phase ^= 1; }
      }
    }
  } else {
    float acc[32];
    for (int k = 0; k < blocks_k; ++k) {
      mbar_wait(full(s), phase);
      wgmma_fence();
      for (int step = 0; step < 4; ++step)
        Wgmma<64, 0, 0>::mma(acc, wgmma_desc(smem + s * BYTES + step * 32, 16), wgmma_desc(smem + AT_Q + s * BYTES + step * 32, 16), k != 0 || step != 0);
      wgmma_commit();
      wgmma_wait<0>();
      if (t < 2) mbar_arrive_remote(empty(s), t);
      if (++s == STAGES) { s = 0; phase ^= 1; }
    }
    const int row = rank * 64 + t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
    for (int i = 0; i < 32; ++i) c[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + column + i % 2] = acc[i];
  }
  cluster_sync();  // nobody leaves while the other may still signal it
}
