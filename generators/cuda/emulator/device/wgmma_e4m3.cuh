// wgmma m64nNk32, E4M3 x E4M3 into float, as in generators/cuda/device/wgmma_e4m3.cuh. The sums are not truncated here.
#pragma once

namespace kiln_device {

template <int N> struct WgmmaE4M3 {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "wgmma: N is a multiple of 8 up to 256");
  static DEV void mma(float (&d)[N / 2], u64 a, u64 b, int scale_d, KILN_LINE) { issue_wgmma_(Element_::e4m3, N, 0, 0, d, a, b, scale_d, line); }
};

}  // namespace kiln_device
