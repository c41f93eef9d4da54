// out = 2 x over n bf16 values, n a multiple of CHUNK: bulk copies into a ring, bulk stores out of three buffers, one barrier a chunk.
#include "types.cuh"
#include "barriers.cuh"
#include "copies.cuh"
#include "moves.cuh"
#include "numbers.cuh"

constexpr int THREADS = 64, CHUNK = THREADS * 8, RING = 2, BUFFERS = 3, BYTES = CHUNK * 2, AT_OUT = RING * BYTES, AT_FULL = AT_OUT + BUFFERS * BYTES;

extern "C" __global__ void __launch_bounds__(THREADS) map_ring(const u16* x, u16* out, int n) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 smem = smem_u32(smem_raw);
  const int t = threadIdx.x, chunks = n / CHUNK, blocks = gridDim.x;
  auto full = [&](int s) { return smem + AT_FULL + s * 8; };
  if (t == 0) {
    for (int s = 0; s < RING; ++s) mbar_init(full(s), 1);
    fence_mbar_init();
  }
  __syncthreads();
  auto fetch = [&](int stage, int chunk) {
    mbar_expect_tx(full(stage), BYTES);
    bulk_load(smem + stage * BYTES, x + chunk * CHUNK, BYTES, full(stage));
  };
  if (t == 0)
    for (int s = 0; s < RING; ++s)
      if (blockIdx.x + s * blocks < chunks) fetch(s, blockIdx.x + s * blocks);
  int stage = 0, buffer = 0;
  u32 parity = 0;
  for (int chunk = blockIdx.x; chunk < chunks; chunk += blocks) {
    mbar_wait(full(stage), parity);
    Vec<16> v = ld_shared<Vec<16>>(smem + stage * BYTES + t * 16);
    for (int i = 0; i < 4; ++i) v.w[i] = pack_bf16(2 * bf16_lo(v.w[i]), 2 * bf16_hi(v.w[i]));
    st_shared(smem + AT_OUT + buffer * BYTES + t * 16, v);
    fence_async_proxy();
    if (t == 0) bulk_wait_read<BUFFERS - 2>();  // the buffer of the next chunk has been read
    __syncthreads();                            // frees the input stage and publishes the output at once
    if (t == 0) {
      bulk_store(out + chunk * CHUNK, smem + AT_OUT + buffer * BYTES, BYTES);
      bulk_commit();
      if (chunk + RING * blocks < chunks) fetch(stage, chunk + RING * blocks);
    }
    if (++stage == RING) { stage = 0; parity ^= 1; }
    if (++buffer == BUFFERS) buffer = 0;
  }
  if (t == 0) bulk_wait_all();
}
