// Two warps add to the words of a shared row in turn, `rounds` times each: named barriers pass the turn, as between two consumers.
#include "types.cuh"
#include "barriers.cuh"
#include "moves.cuh"

extern "C" __global__ void __launch_bounds__(64) turns(u32* out, int rounds) {
  extern __shared__ __align__(1024) char smem_raw[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const u32 word = smem_u32(smem_raw) + lane * 4;
  if (warp == 0) st_shared<u32>(word, 0);
  if (warp == 1) bar_arrive(2, 64);  // warp 0 goes first
  for (int round = 0; round < rounds; ++round) {
    bar_sync(2 + warp, 64);
    st_shared<u32>(word, ld_shared<u32>(word) * 2 + warp);
    if (warp == 0 || round + 1 < rounds) bar_arrive(2 + (warp ^ 1), 64);
  }
  if (warp == 1) out[lane] = ld_shared<u32>(word);
}
