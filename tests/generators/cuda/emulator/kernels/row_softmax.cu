// Softmax of rows of n <= 1024 bf16 values; a cluster of two blocks shares a row, 64 threads each, 8 values a thread.
#include "types.cuh"
#include "barriers.cuh"
#include "moves.cuh"
#include "numbers.cuh"
#include "streams.cuh"

constexpr int THREADS = 64, CLUSTER = 2, SLOTS = CLUSTER * THREADS / 32;
constexpr float LOG2E = 1.44269504f;

// The warps' parts meet in every block's slots; `at` alternates between two arrays, so that one barrier a reduction is enough.
template <class F> DEV float reduce(float v, u32 at, u32 rank, F combine) {
  for (int d = 16; d > 0; d /= 2) v = combine(v, shfl_xor(v, d));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < CLUSTER) st_cluster(mapa(at + (rank * (THREADS / 32) + warp) * 4, lane), v);
  cluster_arrive();
  cluster_wait();
  v = ld_shared<float>(at);
  for (int i = 1; i < SLOTS; ++i) v = combine(v, ld_shared<float>(at + i * 4));
  return v;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(THREADS) row_softmax(const u16* x, u16* y, int rows, int n) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 smem = smem_u32(smem_raw), rank = cluster_rank();
  const int column = (rank * THREADS + threadIdx.x) * 8;
  const bool live = column < n;
  cluster_arrive();  // the partner runs before its shared memory is written
  cluster_wait();
  for (int row = blockIdx.x / CLUSTER; row < rows; row += gridDim.x / CLUSTER) {
    float e[8], largest = -3.0e38f, sum = 0;
    if (live) {
      const Vec<16> v = load_stream<16, LOAD_NO_L1>(x + row * n + column);
      for (int i = 0; i < 4; ++i) {
        e[2 * i] = bf16_lo(v.w[i]);
        e[2 * i + 1] = bf16_hi(v.w[i]);
      }
      for (int i = 0; i < 8; ++i) largest = fmaxf(largest, e[i]);
    }
    largest = reduce(largest, smem, rank, [](float a, float b) { return fmaxf(a, b); });
    if (live)
      for (int i = 0; i < 8; ++i) {
        e[i] = fast_exp2((e[i] - largest) * LOG2E);
        sum += e[i];
      }
    sum = reduce(sum, smem + SLOTS * 4, rank, [](float a, float b) { return a + b; });
    if (!live) continue;
    Vec<16> out;
    for (int i = 0; i < 4; ++i) out.w[i] = pack_bf16(e[2 * i] * fast_rcp(sum), e[2 * i + 1] * fast_rcp(sum));
    store_stream<16>(y + row * n + column, out);
  }
}
