/* Which instructions this process may use: CPUID says what the CPU has, XCR0 what the operating system saves at a switch. A virtual machine may
   hide one and not the other, so both are asked. */
#include "generators/runtime/set_cpu.h"

#include <cpuid.h>
#include <stdio.h>

typedef struct {
  uint32_t leaf_1[4], leaf_7[4], leaf_7_1[4]; /* a b c d */
  uint64_t saved_states;
} cpu_words;

static void ask(uint32_t leaf, uint32_t subleaf, uint32_t words[4]) {
  if (!__get_cpuid_count(leaf, subleaf, &words[0], &words[1], &words[2], &words[3])) words[0] = words[1] = words[2] = words[3] = 0;
}

static uint64_t read_xcr0(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static cpu_words read_cpu(void) {
  enum { kOsxsave = 27 }; /* leaf 1 ecx: xgetbv may be used */
  cpu_words cpu = {.saved_states = 0};
  ask(1, 0, cpu.leaf_1);
  ask(7, 0, cpu.leaf_7);
  if (cpu.leaf_7[0] >= 1) ask(7, 1, cpu.leaf_7_1);
  if (cpu.leaf_1[2] >> kOsxsave & 1) cpu.saved_states = read_xcr0();
  return cpu;
}

static int has(const cpu_words* cpu, int leaf, char reg, int bit, uint64_t states) {
  const uint32_t* words = leaf == 0x1 ? cpu->leaf_1 : leaf == 0x7 ? cpu->leaf_7 : cpu->leaf_7_1;
  return (words[reg - 'a'] >> bit & 1) && (cpu->saved_states & states) == states;
}

uint64_t kiln_cpu_features(void) {
  const cpu_words cpu = read_cpu();
  uint64_t features = 0;
#define KILN_CPU_ASK(index, id, name, leaf, reg, bit, state) \
  if (has(&cpu, leaf, reg, bit, state)) features |= UINT64_C(1) << (index);
  KILN_CPU_FEATURES(KILN_CPU_ASK)
#undef KILN_CPU_ASK
  return features;
}

const char* kiln_print_features(uint64_t features, char* text, size_t bytes) {
  static const char* const kNames[] = {
#define KILN_CPU_NAME(index, id, name, leaf, reg, bit, state) name,
      KILN_CPU_FEATURES(KILN_CPU_NAME)
#undef KILN_CPU_NAME
  };
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames && used < bytes; ++i) {
    if (features >> i & 1) used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", kNames[i]);
  }
  return text;
}
