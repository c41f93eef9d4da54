// One warp a row of 256 bf16: cp.async, ldmatrix both ways, shuffles, E4M3; then the neighbour block's sum through its shared memory.
#include "types.cuh"
#include "barriers.cuh"
#include "copies.cuh"
#include "moves.cuh"
#include "numbers.cuh"

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) moves(const u16* x, float* sums, u16* transposed, u16* quantised, float* neighbour) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 s = smem_u32(smem_raw), lane = threadIdx.x, row = blockIdx.x;
  cp_async_16(s + lane * 16, x + row * 256 + lane * 8);
  cp_async_commit();
  cp_async_wait<0>();
  __syncwarp();
  u32 m[4], mt[4];
  ldmatrix_x4(m, s + lane * 16);  // each 8x8 matrix is 8 chunks of 16 bytes
  ldmatrix_x4_trans(mt, s + lane * 16);
  float v = 0;
  for (int i = 0; i < 4; ++i) v += bf16_lo(m[i]) + bf16_hi(m[i]);
  for (int i = 16; i > 0; i /= 2) v += shfl_xor(v, i);
  for (int i = 0; i < 4; ++i) *(u32*)(transposed + row * 256 + i * 64 + lane / 4 * 8 + lane % 4 * 2) = mt[i];
  for (int i = 0; i < 4; ++i) quantised[row * 128 + i * 32 + lane / 4 * 4 + lane % 4] = pack_e4m3(bf16_lo(m[i]), bf16_hi(m[i]));
  if (elect_one()) {
    sums[row] = v;
    st_shared(s + 512, v);
  }
  cluster_sync();
  if (lane == 0) neighbour[row] = ld_cluster(mapa(s + 512, cluster_rank() ^ 1));
  cluster_sync();  // nobody leaves while the other still reads
}
