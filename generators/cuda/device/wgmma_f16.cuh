// After mma.cuh. wgmma m64nNk16, f16 x f16 into float, A and B from shared memory: WgmmaF16<N, TA, TB>::mma, otherwise as Wgmma.
#pragma once

// R = N / 2 accumulators; A .. TB_: the operand numbers that follow them.
template <int N, int TA, int TB> struct WgmmaF16;
#define KILN_WGMMA_F16(N, R, A, B, SCALE, TA_, TB_)                                                                                       \
  template <int TA, int TB> struct WgmmaF16<N, TA, TB> {                                                                                      \
    static DEV void mma(float (&d)[R], u64 a, u64 b, int scale_d) {                                                                        \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #SCALE ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {"        \
                   KILN_NAMES_##R "}, %" #A ", %" #B ", p, 1, 1, %" #TA_ ", %" #TB_ ";\n}"                                                \
                   : KILN_ACCUMULATORS_##R : "l"(a), "l"(b), "r"(scale_d), "n"(TA), "n"(TB));                                               \
    }                                                                                                                                      \
  };
KILN_WGMMA_F16(8, 4, 4, 5, 6, 7, 8)
KILN_WGMMA_F16(16, 8, 8, 9, 10, 11, 12)
KILN_WGMMA_F16(24, 12, 12, 13, 14, 15, 16)
KILN_WGMMA_F16(32, 16, 16, 17, 18, 19, 20)
KILN_WGMMA_F16(40, 20, 20, 21, 22, 23, 24)
KILN_WGMMA_F16(48, 24, 24, 25, 26, 27, 28)
KILN_WGMMA_F16(56, 28, 28, 29, 30, 31, 32)
KILN_WGMMA_F16(64, 32, 32, 33, 34, 35, 36)
KILN_WGMMA_F16(72, 36, 36, 37, 38, 39, 40)
KILN_WGMMA_F16(80, 40, 40, 41, 42, 43, 44)
KILN_WGMMA_F16(88, 44, 44, 45, 46, 47, 48)
KILN_WGMMA_F16(96, 48, 48, 49, 50, 51, 52)
KILN_WGMMA_F16(104, 52, 52, 53, 54, 55, 56)
KILN_WGMMA_F16(112, 56, 56, 57, 58, 59, 60)
KILN_WGMMA_F16(120, 60, 60, 61, 62, 63, 64)
KILN_WGMMA_F16(128, 64, 64, 65, 66, 67, 68)
KILN_WGMMA_F16(136, 68, 68, 69, 70, 71, 72)
KILN_WGMMA_F16(144, 72, 72, 73, 74, 75, 76)
KILN_WGMMA_F16(152, 76, 76, 77, 78, 79, 80)
KILN_WGMMA_F16(160, 80, 80, 81, 82, 83, 84)
KILN_WGMMA_F16(168, 84, 84, 85, 86, 87, 88)
KILN_WGMMA_F16(176, 88, 88, 89, 90, 91, 92)
KILN_WGMMA_F16(184, 92, 92, 93, 94, 95, 96)
KILN_WGMMA_F16(192, 96, 96, 97, 98, 99, 100)
KILN_WGMMA_F16(200, 100, 100, 101, 102, 103, 104)
KILN_WGMMA_F16(208, 104, 104, 105, 106, 107, 108)
KILN_WGMMA_F16(216, 108, 108, 109, 110, 111, 112)
KILN_WGMMA_F16(224, 112, 112, 113, 114, 115, 116)
KILN_WGMMA_F16(232, 116, 116, 117, 118, 119, 120)
KILN_WGMMA_F16(240, 120, 120, 121, 122, 123, 124)
KILN_WGMMA_F16(248, 124, 124, 125, 126, 127, 128)
KILN_WGMMA_F16(256, 128, 128, 129, 130, 131, 132)
