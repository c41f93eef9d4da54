// Conversions and approximate functions of n pairs of floats.
#include "types.cuh"
#include "numbers.cuh"

extern "C" __global__ void __launch_bounds__(64) numbers(const float* a, const float* b, u32* bf16, u16* e4m3, u32* halves, u32* unpacked, float* approximate, int n) {
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) {
    const float x = a[i], y = b[i];
    const u32 v = __float_as_uint(x), w = __float_as_uint(y);
    bf16[i] = pack_bf16(x, y);
    e4m3[i] = pack_e4m3(x, y);
    halves[2 * i] = low_halves(v, w);
    halves[2 * i + 1] = high_halves(v, w);
    unpacked[2 * i] = __float_as_uint(bf16_lo(v));
    unpacked[2 * i + 1] = __float_as_uint(bf16_hi(v));
    approximate[5 * i] = fast_exp2(x);
    approximate[5 * i + 1] = fast_log2(x);
    approximate[5 * i + 2] = fast_rcp(x);
    approximate[5 * i + 3] = fast_rsqrt(x);
    approximate[5 * i + 4] = fast_tanh(x);
  }
}
