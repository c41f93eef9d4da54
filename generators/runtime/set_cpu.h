/* CPU features by their bits: generators/package writes them into the tables, set_cpu.c finds them by CPUID and XCR0. */
#ifndef KILN_RUNTIME_SET_CPU_H
#define KILN_RUNTIME_SET_CPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line a feature: bit, name as printed, CPUID leaf (7.1 is 0x71), register (a b c d), bit in it, state that XCR0 must enable.
   AMX is left out: no directive of ours reaches it, and Linux wants it asked for by a system call. */
#define KILN_CPU_FEATURES(X)                                                                                                           \
  X(0, SSE41, "sse4.1", 0x1, 'c', 19, 0x0) X(1, SSSE3, "ssse3", 0x1, 'c', 9, 0x0) X(2, SSE42, "sse4.2", 0x1, 'c', 20, 0x0)               \
  X(3, POPCNT, "popcnt", 0x1, 'c', 23, 0x0) X(4, AVX, "avx", 0x1, 'c', 28, 0x6) X(5, F16C, "f16c", 0x1, 'c', 29, 0x6)                    \
  X(6, FMA, "fma", 0x1, 'c', 12, 0x6) X(7, AVX2, "avx2", 0x7, 'b', 5, 0x6) X(8, AVX512F, "avx512f", 0x7, 'b', 16, 0xe6)                  \
  X(9, AVX512DQ, "avx512dq", 0x7, 'b', 17, 0xe6) X(10, AVX512IFMA, "avx512ifma", 0x7, 'b', 21, 0xe6)                                     \
  X(11, AVX512CD, "avx512cd", 0x7, 'b', 28, 0xe6) X(12, AVX512BW, "avx512bw", 0x7, 'b', 30, 0xe6)                                        \
  X(13, AVX512VL, "avx512vl", 0x7, 'b', 31, 0xe6) X(14, AVX512VBMI, "avx512vbmi", 0x7, 'c', 1, 0xe6)                                     \
  X(15, AVX512VBMI2, "avx512vbmi2", 0x7, 'c', 6, 0xe6) X(16, AVX512VNNI, "avx512vnni", 0x7, 'c', 11, 0xe6)                               \
  X(17, AVX512BITALG, "avx512bitalg", 0x7, 'c', 12, 0xe6) X(18, AVX512VPOPCNTDQ, "avx512vpopcntdq", 0x7, 'c', 14, 0xe6)                  \
  X(19, AVX512BF16, "avx512bf16", 0x71, 'a', 5, 0xe6) X(20, AVXVNNI, "avxvnni", 0x71, 'a', 4, 0x6)                                       \
  X(21, AVX512FP16, "avx512fp16", 0x7, 'd', 23, 0xe6)

enum {
#define KILN_CPU_INDEX(index, id, name, leaf, reg, bit, state) KILN_CPU_INDEX_##id = index,
  KILN_CPU_FEATURES(KILN_CPU_INDEX)
#undef KILN_CPU_INDEX
};
#define KILN_CPU_BIT(id) (UINT64_C(1) << KILN_CPU_INDEX_##id)

/* The features that this CPU has and the operating system saves. */
uint64_t kiln_cpu_features(void);

/* "avx2, fma" for the bits that are set, cut to fit; returns `text`. */
const char* kiln_print_features(uint64_t features, char* text, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
