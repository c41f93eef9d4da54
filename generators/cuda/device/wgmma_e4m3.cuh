// After mma.cuh. wgmma m64nNk32, E4M3 x E4M3 into float, A and B from shared memory, both K-major (FP8 has no other order): WgmmaE4M3<N>::mma, otherwise as
// Wgmma. The hardware truncates as it adds: 6.6 % too small at K = 4096 for positive operands, measured on an H200; add up every 128 elsewhere.
#pragma once

template <int N> struct WgmmaE4M3;
#define KILN_WGMMA_E4M3(N, R, A, B, SCALE)                                                                                                 \
  template <> struct WgmmaE4M3<N> {                                                                                                        \
    static DEV void mma(float (&d)[R], u64 a, u64 b, int scale_d) {                                                                        \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #SCALE ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N "k32.f32.e4m3.e4m3 {"        \
                   KILN_NAMES_##R "}, %" #A ", %" #B ", p, 1, 1;\n}"                                                                       \
                   : KILN_ACCUMULATORS_##R : "l"(a), "l"(b), "r"(scale_d));                                                                 \
    }                                                                                                                                      \
  };
KILN_WGMMA_E4M3(8, 4, 4, 5, 6)
KILN_WGMMA_E4M3(16, 8, 8, 9, 10)
KILN_WGMMA_E4M3(24, 12, 12, 13, 14)
KILN_WGMMA_E4M3(32, 16, 16, 17, 18)
KILN_WGMMA_E4M3(40, 20, 20, 21, 22)
KILN_WGMMA_E4M3(48, 24, 24, 25, 26)
KILN_WGMMA_E4M3(56, 28, 28, 29, 30)
KILN_WGMMA_E4M3(64, 32, 32, 33, 34)
KILN_WGMMA_E4M3(72, 36, 36, 37, 38)
KILN_WGMMA_E4M3(80, 40, 40, 41, 42)
KILN_WGMMA_E4M3(88, 44, 44, 45, 46)
KILN_WGMMA_E4M3(96, 48, 48, 49, 50)
KILN_WGMMA_E4M3(104, 52, 52, 53, 54)
KILN_WGMMA_E4M3(112, 56, 56, 57, 58)
KILN_WGMMA_E4M3(120, 60, 60, 61, 62)
KILN_WGMMA_E4M3(128, 64, 64, 65, 66)
KILN_WGMMA_E4M3(136, 68, 68, 69, 70)
KILN_WGMMA_E4M3(144, 72, 72, 73, 74)
KILN_WGMMA_E4M3(152, 76, 76, 77, 78)
KILN_WGMMA_E4M3(160, 80, 80, 81, 82)
KILN_WGMMA_E4M3(168, 84, 84, 85, 86)
KILN_WGMMA_E4M3(176, 88, 88, 89, 90)
KILN_WGMMA_E4M3(184, 92, 92, 93, 94)
KILN_WGMMA_E4M3(192, 96, 96, 97, 98)
KILN_WGMMA_E4M3(200, 100, 100, 101, 102)
KILN_WGMMA_E4M3(208, 104, 104, 105, 106)
KILN_WGMMA_E4M3(216, 108, 108, 109, 110)
KILN_WGMMA_E4M3(224, 112, 112, 113, 114)
KILN_WGMMA_E4M3(232, 116, 116, 117, 118)
KILN_WGMMA_E4M3(240, 120, 120, 121, 122)
KILN_WGMMA_E4M3(248, 124, 124, 125, 126)
KILN_WGMMA_E4M3(256, 128, 128, 129, 130)
