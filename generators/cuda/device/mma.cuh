// The tensor cores: wgmma's synchronisation and descriptors, and mma.sync. The wgmma instructions themselves: wgmma_bf16.cuh,
// wgmma_f16.cuh, wgmma_e4m3.cuh.
#pragma once

DEV void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int GROUPS> DEV void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory"); }

// The compiler moves no use of these registers across this point: after a wgmma_wait, for the accumulators that it freed.
template <int N> DEV void pin(float (&r)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(r[i])::"memory");
}

// Descriptor of an operand in shared memory, 128-byte swizzle; addresses and strides are stored divided by 16 (PTX ISA, "Asynchronous warpgroup
// level matrix shared memory layout").
//   K-major tile  [rows][64 k]: 1024 bytes to the next 8 rows; lbo_bytes is not used.
//   MN-major tile [mn/64][k][64 mn]: 1024 bytes to the next 8 k, lbo_bytes to the next 64 mn.
DEV u64 wgmma_desc(u32 address, u32 lbo_bytes) {
  return ((u64)1 << 62) | ((u64)(1024 >> 4) << 32) | ((u64)(lbo_bytes >> 4) << 16) | (u64)((address & 0x3FFFF) >> 4);
}

// c += a b for 16x16 by 16x8 of bf16. Lane 4 g + t holds rows g and g + 8 of a and column g of b, both at k = 2t, 2t + 1, 2t + 8, 2t + 9, and
// c = {(g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)}.
DEV void mma_16816(float* c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// For the wgmma files: the first n accumulators, as the text of the instruction and as its operands.
#define KILN_FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define KILN_NAMES_4 "%0, %1, %2, %3"
#define KILN_NAMES_8 KILN_NAMES_4 ", %4, %5, %6, %7"
#define KILN_NAMES_12 KILN_NAMES_8 ", %8, %9, %10, %11"
#define KILN_NAMES_16 KILN_NAMES_12 ", %12, %13, %14, %15"
#define KILN_NAMES_20 KILN_NAMES_16 ", %16, %17, %18, %19"
#define KILN_NAMES_24 KILN_NAMES_20 ", %20, %21, %22, %23"
#define KILN_NAMES_28 KILN_NAMES_24 ", %24, %25, %26, %27"
#define KILN_NAMES_32 KILN_NAMES_28 ", %28, %29, %30, %31"
#define KILN_NAMES_36 KILN_NAMES_32 ", %32, %33, %34, %35"
#define KILN_NAMES_40 KILN_NAMES_36 ", %36, %37, %38, %39"
#define KILN_NAMES_44 KILN_NAMES_40 ", %40, %41, %42, %43"
#define KILN_NAMES_48 KILN_NAMES_44 ", %44, %45, %46, %47"
#define KILN_NAMES_52 KILN_NAMES_48 ", %48, %49, %50, %51"
#define KILN_NAMES_56 KILN_NAMES_52 ", %52, %53, %54, %55"
#define KILN_NAMES_60 KILN_NAMES_56 ", %56, %57, %58, %59"
#define KILN_NAMES_64 KILN_NAMES_60 ", %60, %61, %62, %63"
#define KILN_NAMES_68 KILN_NAMES_64 ", %64, %65, %66, %67"
#define KILN_NAMES_72 KILN_NAMES_68 ", %68, %69, %70, %71"
#define KILN_NAMES_76 KILN_NAMES_72 ", %72, %73, %74, %75"
#define KILN_NAMES_80 KILN_NAMES_76 ", %76, %77, %78, %79"
#define KILN_NAMES_84 KILN_NAMES_80 ", %80, %81, %82, %83"
#define KILN_NAMES_88 KILN_NAMES_84 ", %84, %85, %86, %87"
#define KILN_NAMES_92 KILN_NAMES_88 ", %88, %89, %90, %91"
#define KILN_NAMES_96 KILN_NAMES_92 ", %92, %93, %94, %95"
#define KILN_NAMES_100 KILN_NAMES_96 ", %96, %97, %98, %99"
#define KILN_NAMES_104 KILN_NAMES_100 ", %100, %101, %102, %103"
#define KILN_NAMES_108 KILN_NAMES_104 ", %104, %105, %106, %107"
#define KILN_NAMES_112 KILN_NAMES_108 ", %108, %109, %110, %111"
#define KILN_NAMES_116 KILN_NAMES_112 ", %112, %113, %114, %115"
#define KILN_NAMES_120 KILN_NAMES_116 ", %116, %117, %118, %119"
#define KILN_NAMES_124 KILN_NAMES_120 ", %120, %121, %122, %123"
#define KILN_NAMES_128 KILN_NAMES_124 ", %124, %125, %126, %127"
#define KILN_ACCUMULATORS_4 KILN_FOUR(0)
#define KILN_ACCUMULATORS_8 KILN_ACCUMULATORS_4, KILN_FOUR(4)
#define KILN_ACCUMULATORS_12 KILN_ACCUMULATORS_8, KILN_FOUR(8)
#define KILN_ACCUMULATORS_16 KILN_ACCUMULATORS_12, KILN_FOUR(12)
#define KILN_ACCUMULATORS_20 KILN_ACCUMULATORS_16, KILN_FOUR(16)
#define KILN_ACCUMULATORS_24 KILN_ACCUMULATORS_20, KILN_FOUR(20)
#define KILN_ACCUMULATORS_28 KILN_ACCUMULATORS_24, KILN_FOUR(24)
#define KILN_ACCUMULATORS_32 KILN_ACCUMULATORS_28, KILN_FOUR(28)
#define KILN_ACCUMULATORS_36 KILN_ACCUMULATORS_32, KILN_FOUR(32)
#define KILN_ACCUMULATORS_40 KILN_ACCUMULATORS_36, KILN_FOUR(36)
#define KILN_ACCUMULATORS_44 KILN_ACCUMULATORS_40, KILN_FOUR(40)
#define KILN_ACCUMULATORS_48 KILN_ACCUMULATORS_44, KILN_FOUR(44)
#define KILN_ACCUMULATORS_52 KILN_ACCUMULATORS_48, KILN_FOUR(48)
#define KILN_ACCUMULATORS_56 KILN_ACCUMULATORS_52, KILN_FOUR(52)
#define KILN_ACCUMULATORS_60 KILN_ACCUMULATORS_56, KILN_FOUR(56)
#define KILN_ACCUMULATORS_64 KILN_ACCUMULATORS_60, KILN_FOUR(60)
#define KILN_ACCUMULATORS_68 KILN_ACCUMULATORS_64, KILN_FOUR(64)
#define KILN_ACCUMULATORS_72 KILN_ACCUMULATORS_68, KILN_FOUR(68)
#define KILN_ACCUMULATORS_76 KILN_ACCUMULATORS_72, KILN_FOUR(72)
#define KILN_ACCUMULATORS_80 KILN_ACCUMULATORS_76, KILN_FOUR(76)
#define KILN_ACCUMULATORS_84 KILN_ACCUMULATORS_80, KILN_FOUR(80)
#define KILN_ACCUMULATORS_88 KILN_ACCUMULATORS_84, KILN_FOUR(84)
#define KILN_ACCUMULATORS_92 KILN_ACCUMULATORS_88, KILN_FOUR(88)
#define KILN_ACCUMULATORS_96 KILN_ACCUMULATORS_92, KILN_FOUR(92)
#define KILN_ACCUMULATORS_100 KILN_ACCUMULATORS_96, KILN_FOUR(96)
#define KILN_ACCUMULATORS_104 KILN_ACCUMULATORS_100, KILN_FOUR(100)
#define KILN_ACCUMULATORS_108 KILN_ACCUMULATORS_104, KILN_FOUR(104)
#define KILN_ACCUMULATORS_112 KILN_ACCUMULATORS_108, KILN_FOUR(108)
#define KILN_ACCUMULATORS_116 KILN_ACCUMULATORS_112, KILN_FOUR(112)
#define KILN_ACCUMULATORS_120 KILN_ACCUMULATORS_116, KILN_FOUR(116)
#define KILN_ACCUMULATORS_124 KILN_ACCUMULATORS_120, KILN_FOUR(120)
#define KILN_ACCUMULATORS_128 KILN_ACCUMULATORS_124, KILN_FOUR(124)
