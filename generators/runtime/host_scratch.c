/* halide_malloc and halide_free: blocks in size classes, kept for the next call. glibc's malloc returns large blocks to the system and takes
   the page faults again at every call, which slowed the same kernels up to 3.3 times. After one call no class asks the system again. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "generators/runtime/host.h"

enum {
  kAlignment = 64,        /* one AVX-512 register, one cache line: what aligned loads of Halide's objects expect */
  kSmallestLog2 = 7,      /* blocks are at least 128 bytes, header included */
  kLargestLog2 = 40,
  kStepsPerOctave = 4,    /* at most a quarter of a block is unused */
  kClassCount = (kLargestLog2 - kSmallestLog2) * kStepsPerOctave + 1,
  kSlotCount = 128,       /* blocks a class keeps; more go back to the system */
  kSlotsPerThread = 4,    /* a thread looks first where it left its own blocks, which are warm in its cache */
};

typedef struct {
  size_t bytes;    /* of the whole block */
  int size_class;
} block_header; /* stands in the kAlignment bytes before the memory */

typedef struct {
  atomic_int kept; /* upper bound of the full slots, so that an empty class is not searched */
  _Atomic(block_header*) slots[kSlotCount];
} block_class;

static block_class classes[kClassCount];
static atomic_size_t scratch_bytes;
static atomic_uint thread_count;
static _Thread_local unsigned home_slot; /* first slot of this thread + 1; 0: not given yet */

static unsigned home(void) {
  if (home_slot == 0) home_slot = atomic_fetch_add_explicit(&thread_count, kSlotsPerThread, memory_order_relaxed) % kSlotCount + 1;
  return home_slot - 1;
}

static size_t class_bytes(int size_class) {
  const size_t octave = (size_t)1 << (kSmallestLog2 + size_class / kStepsPerOctave);
  return octave + octave / kStepsPerOctave * (size_t)(size_class % kStepsPerOctave);
}

/* The smallest class whose blocks hold `bytes`, or -1 above 1 TiB. */
static int class_of(size_t bytes) {
  if (bytes <= (size_t)1 << kSmallestLog2) return 0;
  if (bytes > (size_t)1 << kLargestLog2) return -1;
  const int log2 = 63 - __builtin_clzll(bytes - 1);
  const size_t octave = (size_t)1 << log2, step = octave / kStepsPerOctave;
  return (log2 - kSmallestLog2) * kStepsPerOctave + (int)((bytes - octave + step - 1) / step);
}

static block_header* take_kept(block_class* from) {
  if (atomic_load_explicit(&from->kept, memory_order_relaxed) <= 0) return NULL;
  const unsigned first = home();
  for (unsigned i = 0; i < kSlotCount; ++i) {
    _Atomic(block_header*)* slot = &from->slots[(first + i) % kSlotCount];
    if (atomic_load_explicit(slot, memory_order_relaxed) == NULL) continue;
    block_header* block = atomic_exchange_explicit(slot, NULL, memory_order_acquire);
    if (block == NULL) continue;
    atomic_fetch_sub_explicit(&from->kept, 1, memory_order_relaxed);
    return block;
  }
  return NULL;
}

static bool keep(block_class* in, block_header* block) {
  const unsigned first = home();
  atomic_fetch_add_explicit(&in->kept, 1, memory_order_relaxed);
  for (unsigned i = 0; i < kSlotCount; ++i) {
    _Atomic(block_header*)* slot = &in->slots[(first + i) % kSlotCount];
    block_header* empty = NULL;
    if (atomic_load_explicit(slot, memory_order_relaxed) != NULL) continue;
    if (atomic_compare_exchange_strong_explicit(slot, &empty, block, memory_order_release, memory_order_relaxed)) return true;
  }
  atomic_fetch_sub_explicit(&in->kept, 1, memory_order_relaxed);
  return false;
}

static void give_back(block_header* block) {
  atomic_fetch_sub_explicit(&scratch_bytes, block->bytes, memory_order_relaxed);
  free(block);
}

static block_header* new_block(int size_class) {
  const size_t bytes = class_bytes(size_class);
  block_header* block = aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (block == NULL) return NULL;
  block->bytes = bytes;
  block->size_class = size_class;
  atomic_fetch_add_explicit(&scratch_bytes, bytes, memory_order_relaxed);
  return block;
}

/* NULL when the system has no memory left: the object then calls halide_error_out_of_memory and returns its code. */
void* halide_malloc(void* user_context, size_t bytes) {
  (void)user_context;
  if (bytes > (size_t)1 << kLargestLog2) return NULL;
  const int size_class = class_of(bytes + kAlignment);
  if (size_class < 0) return NULL;
  block_header* block = take_kept(&classes[size_class]);
  if (block == NULL) block = new_block(size_class);
  return block == NULL ? NULL : (char*)block + kAlignment;
}

void halide_free(void* user_context, void* memory) {
  (void)user_context;
  if (memory == NULL) return;
  block_header* block = (block_header*)((char*)memory - kAlignment);
  if (!keep(&classes[block->size_class], block)) give_back(block);
}

size_t kiln_host_scratch_bytes(void) { return atomic_load_explicit(&scratch_bytes, memory_order_relaxed); }

void kiln_host_trim_scratch(void) {
  for (int c = 0; c < kClassCount; ++c) {
    if (atomic_load_explicit(&classes[c].kept, memory_order_relaxed) == 0) continue;
    for (int i = 0; i < kSlotCount; ++i) {
      block_header* block = atomic_exchange_explicit(&classes[c].slots[i], NULL, memory_order_acquire);
      if (block == NULL) continue;
      atomic_fetch_sub_explicit(&classes[c].kept, 1, memory_order_relaxed);
      give_back(block);
    }
  }
}
