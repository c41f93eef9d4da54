// wgmma m64nNk16, f16 x f16 into float, as in generators/cuda/device/wgmma_f16.cuh: one template for every width.
#pragma once

namespace kiln_device {

template <int N, int TA, int TB> struct WgmmaF16 {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "wgmma: N is a multiple of 8 up to 256");
  static DEV void mma(float (&d)[N / 2], u64 a, u64 b, int scale_d, KILN_LINE) { issue_wgmma_(Element_::f16, N, TA, TB, d, a, b, scale_d, line); }
};

}  // namespace kiln_device
