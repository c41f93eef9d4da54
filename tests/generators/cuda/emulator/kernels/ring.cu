// C[M, N] = X[M, K] W[N, K] in bf16: one warpgroup feeds a ring of tiles by TMA, another multiplies, and stores through two buffers.
#include "types.cuh"
#include "barriers.cuh"
#include "copies.cuh"
#include "mma.cuh"
#include "moves.cuh"
#include "numbers.cuh"
#include "wgmma_bf16.cuh"

constexpr int STAGES = 3, BUFFERS = 2, TILE_M = 64, TILE_N = 128, DEPTH = 64;
constexpr int P_BYTES = TILE_M * DEPTH * 2, Q_BYTES = TILE_N * DEPTH * 2, STORE_BYTES = TILE_M * 64 * 2;
constexpr int AT_Q = STAGES * P_BYTES, AT_STORE = AT_Q + STAGES * Q_BYTES, AT_FULL = AT_STORE + BUFFERS * STORE_BYTES, AT_EMPTY = AT_FULL + STAGES * 8;

extern "C" __global__ void __launch_bounds__(256, 2)
ring(const __grid_constant__ TensorMap map_x, const __grid_constant__ TensorMap map_w, const __grid_constant__ TensorMap map_c, int M, int N, int K) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 smem = smem_u32(smem_raw);
  const int wg = threadIdx.x / 128, t = threadIdx.x % 128, warp = t / 32, lane = t % 32;
  const int tiles_n = (N + TILE_N - 1) / TILE_N, tiles = (M + TILE_M - 1) / TILE_M * tiles_n, blocks_k = (K + DEPTH - 1) / DEPTH;
  auto full = [&](int s) { return smem + AT_FULL + s * 8; };
  auto empty = [&](int s) { return smem + AT_EMPTY + s * 8; };

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbar_init(full(s), 1);
      mbar_init(empty(s), 1);
    }
    fence_mbar_init();
  }
  __syncthreads();

  int s = 0;
  u32 phase = 0;
  if (wg == 0) {
    regs_shrink<40>();
    if (t == 0) {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        for (int k = 0; k < blocks_k; ++k) {
          mbar_wait(empty(s), phase ^ 1);
          mbar_expect_tx(full(s), P_BYTES + Q_BYTES);
          tma_load(smem + s * P_BYTES, &map_x, full(s), k * DEPTH, tile / tiles_n * TILE_M, HINT_NORMAL);
          tma_load(smem + AT_Q + s * Q_BYTES, &map_w, full(s), k * DEPTH, tile % tiles_n * TILE_N, HINT_EVICT_FIRST);
          if (++s == STAGES) { s = 0; phase ^= 1; }
        }
      }
    }
  } else {
    regs_grow<216>();
    auto release = [&](int stage) { if (t == 0) mbar_arrive(empty(stage)); };
    int previous = 0, stores = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      float acc[TILE_N / 2];
      for (int k = 0; k < blocks_k; ++k) {
        mbar_wait(full(s), phase);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < DEPTH / 16; ++step) {
          const u64 p = wgmma_desc(smem + s * P_BYTES + step * 32, 16), q = wgmma_desc(smem + AT_Q + s * Q_BYTES + step * 32, 16);
          Wgmma<TILE_N, 0, 0>::mma(acc, p, q, k != 0 || step != 0);
        }
        wgmma_commit();
        wgmma_wait<1>();
        if (k != 0) release(previous);
        previous = s;
        if (++s == STAGES) { s = 0; phase ^= 1; }
      }
      wgmma_wait<0>();
      release(previous);

      for (int c = 0; c < TILE_N / 64; ++c) {
        const u32 buffer = smem + AT_STORE + stores++ % BUFFERS * STORE_BYTES;
        if (t == 0) bulk_wait_read<BUFFERS - 1>();
        bar_sync(1, 128);
        const int row = warp * 16 + lane % 16;
        auto pair = [&](int block, int half) { return pack_bf16(acc[(c * 8 + block) * 4 + 2 * half], acc[(c * 8 + block) * 4 + 2 * half + 1]); };
#pragma unroll
        for (int n = 0; n < 8; n += 2) {
          const int chunk = n + lane / 16;
          stmatrix_x4(buffer + row * 128 + ((chunk ^ row % 8) << 4), pair(n, 0), pair(n, 1), pair(n + 1, 0), pair(n + 1, 1));
        }
        fence_async_proxy();
        bar_sync(1, 128);
        if (t == 0) {
          tma_store(&map_c, buffer, tile % tiles_n * TILE_N + c * 64, tile / tiles_n * TILE_M);
          bulk_commit();
        }
      }
    }
    if (t == 0) bulk_wait_all();
  }
}
