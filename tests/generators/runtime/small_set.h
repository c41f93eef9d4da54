/* A set written by hand as the exporter would write it, over kernels in C that follow Halide's calling convention: `rows` adds a scalar to every
   element of a matrix. Its variants tell what they were called as by what they add. */
#ifndef KILN_TESTS_SMALL_SET_H
#define KILN_TESTS_SMALL_SET_H

#include <stdint.h>

#include "generators/runtime/dlpack_view.h"
#include "generators/runtime/host.h"
#include "generators/runtime/set_numbers.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint32_t size;
  int32_t threads;
  kiln_parallel_for parallel_for;
  void* parallel_for_user;
  const char* calls_path;
  int32_t fallback;
  uint32_t reserved;
  void (*warn)(void* user, const char* text);
  void* warn_user;
} small_opts;

typedef struct {
  uint32_t size;
  int32_t tier, variant;
  uint32_t reserved;
  uint64_t opaque[126];
} small_plan;

int small_load(const small_opts* options);
int small_unload(void);
int small_supports(const char* entry, const int64_t* extents);
int small_dump_calls(const char* path);
const char* small_last_error(void);

/* y = x + s. Variants: 0 exact (h=4, w=8; addresses multiples of 32), 1 bucket (h 1..16, w 8..64; asks for whole eights, so that w=12 does not
   fit), 2 for a CPU that does not exist, 3 generic. */
int small_rows_plan(const DLTensor* x, const DLTensor* y, small_plan* plan);
int small_rows_run(const small_plan* plan, const void* x, float s, void* y);

/* The same function for x and y only up to w = 4, and only on a CPU that does not exist. */
int small_nowhere_plan(const DLTensor* x, const DLTensor* y, small_plan* plan);

int small_rows_plan_with(int variant, const DLTensor* x, const DLTensor* y, small_plan* plan);

#ifdef __cplusplus
}
#endif
#endif
