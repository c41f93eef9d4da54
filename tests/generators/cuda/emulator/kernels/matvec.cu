// y[8, 16] = X[8, K] W[16, K] on mma.sync by one warp: lane (g, t) feeds the 16 bytes that it loaded, for W and X alike. K is a multiple of 32.
#include "types.cuh"
#include "mma.cuh"
#include "streams.cuh"

extern "C" __global__ void __launch_bounds__(32) matvec(const u16* x, const u16* w, float* y, int K) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float acc[4] = {};
  for (int k = 8 * t; k < K; k += 32) {
    const Vec<16> upper = load_stream<16>(w + g * K + k), lower = load_stream<16>(w + (g + 8) * K + k), v = load_stream<16>(x + g * K + k);
    mma_16816(acc, upper.w[0], lower.w[0], upper.w[1], lower.w[1], v.w[0], v.w[1]);
    mma_16816(acc, upper.w[2], lower.w[2], upper.w[3], lower.w[3], v.w[2], v.w[3]);
  }
  for (int i = 0; i < 4; ++i) y[(2 * t + i % 2) * 16 + g + i / 2 * 8] = acc[i];
}
