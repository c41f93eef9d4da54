// What moves.cu leaves out, by one warp: shared memory in every size, transposed stores of matrices, shuffles, and streams of 1 KB with every hint in
// every width, one after the other.
#include "types.cuh"
#include "moves.cuh"
#include "streams.cuh"

template <LoadHint LOAD, StoreHint STORE, int BYTES> DEV void copy(const char*& from, char*& to) {
  for (int at = threadIdx.x * BYTES; at < 1024; at += 32 * BYTES) store_stream<BYTES, STORE>(to + at, load_stream<BYTES, LOAD>(from + at));
  from += 1024;
  to += 1024;
}
template <LoadHint LOAD, StoreHint STORE> DEV void copies(const char*& from, char*& to) {
  copy<LOAD, STORE, 4>(from, to);
  copy<LOAD, STORE, 8>(from, to);
  copy<LOAD, STORE, 16>(from, to);
  copy<LOAD, STORE, 32>(from, to);
}

extern "C" __global__ void __launch_bounds__(32) every_move(const u32* x, u32* matrices, u32* shared, u32* shuffled, const char* from, char* to) {
  extern __shared__ __align__(1024) char smem_raw[];
  const u32 s = smem_u32(smem_raw), lane = threadIdx.x;
  const u32 r[4] = {x[lane], x[32 + lane], x[64 + lane], x[96 + lane]};
  stmatrix_x4_trans(s + lane * 16, r[0], r[1], r[2], r[3]);
  stmatrix_x2_trans(s + 512 + lane % 16 * 16, r[2], r[3]);
  __syncwarp();
  for (int i = 0; i < 6; ++i) matrices[i * 32 + lane] = ld_shared<u32>(s + i * 128 + lane * 4);
  __syncwarp();
  const Vec<16> four = {{r[0], r[1], r[2], r[3]}};
  st_shared(s + lane * 16, four);
  __syncwarp();
  const Vec<8> two = ld_shared<Vec<8>>(s + (lane ^ 1) * 16 + 8);
  st_shared(s + 512 + lane * 8, two);
  st_shared(s + 768 + lane * 2, ld_shared<u16>(s + (31 - lane) * 16 + 2));
  __syncwarp();
  for (int i = 0; i < 2; ++i) shared[i * 32 + lane] = ld_shared<u32>(s + 512 + i * 128 + lane * 4);
  if (lane < 16) shared[64 + lane] = ld_shared<u32>(s + 768 + lane * 4);
  shuffled[lane] = shfl_idx(r[0], (lane * 7 + 3) % 32);
  shuffled[32 + lane] = __float_as_uint(shfl_down(__uint_as_float(r[1]), 5));
  shuffled[64 + lane] = __float_as_uint(shfl_xor(__uint_as_float(r[2]), 9));

  copies<LOAD_PLAIN, STORE_PLAIN>(from, to);
  copies<LOAD_NO_L1, STORE_STREAMING>(from, to);
  copies<LOAD_STREAMING, STORE_EVICT_FIRST>(from, to);
  copies<LOAD_EVICT_FIRST, STORE_THROUGH>(from, to);
  copies<LOAD_L2_128B, STORE_PLAIN>(from, to);
  copies<LOAD_L2_256B, STORE_PLAIN>(from, to);
  copies<LOAD_WRITTEN, STORE_PLAIN>(from, to);
}
