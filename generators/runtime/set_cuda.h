/* The GPU's part of a kernel set: cubins with their launches as constant tables, over a driver that is found when the first tensor on a GPU comes.
   Nothing of CUDA is needed to build a set, and one without a driver beside it loads and serves what it has for CPUs. */
#ifndef KILN_RUNTIME_SET_CUDA_H
#define KILN_RUNTIME_SET_CUDA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "generators/runtime/halide_abi.h"
#include "generators/runtime/set_numbers.h"

/* A length that a call brings: an argument's extent (Halide's dimension), or with argument -1 the constant. */
typedef struct {
  int32_t argument, dimension;
  int64_t constant;
} kiln_length;

/* Blocks along one direction: the product of the lengths, divided by what a block takes and rounded up. */
typedef struct {
  const kiln_length* lengths;
  int32_t count;
  int64_t per_block;
} kiln_cuda_grid;

enum { KILN_PARAMETER_BUFFER, KILN_PARAMETER_BETWEEN, KILN_PARAMETER_SCALAR, KILN_PARAMETER_COUNT32, KILN_PARAMETER_COUNT64, KILN_PARAMETER_MAP };

/* What a tensor copy is told of a dense matrix beside its address and extents; type, swizzle and promotion in the numbers of cuda.h. */
typedef struct {
  int32_t type, element_bytes;
  int32_t is_between; /* of a buffer between kernels, else of an argument */
  uint32_t box[2];
  int32_t swizzle, l2_promotion;
} kiln_cuda_map;

typedef struct {
  int32_t kind;
  int32_t place;              /* of a buffer, map or scalar: the argument; of a buffer between kernels: its place */
  const kiln_length* lengths; /* of a count: their product; of a map: its extents, innermost first */
  int32_t count;
  const kiln_cuda_map* map;
} kiln_cuda_parameter;

typedef struct {
  const char* name;
  int32_t threads, cluster, shared_bytes; /* the cluster multiplies the grid; the text says it itself */
  int32_t is_dependent; /* may begin while the kernel before it in the stream still runs */
  const kiln_cuda_grid* grid;
  int32_t grid_count;
  const kiln_cuda_parameter* parameters;
  int32_t parameter_count;
  int32_t blocks_per_sm; /* of a kernel whose blocks go on until all tiles are done: no more of them on each multiprocessor; 0: it is none */
} kiln_cuda_kernel;

/* What one kernel writes and a later one reads: a part of the workspace. */
typedef struct {
  const kiln_length* lengths;
  int32_t count;
  int32_t element_bytes;
} kiln_cuda_between;

/* The length is a multiple of `multiple`, no more than `at_most` (0: any) and equal to `exactly` (0: any). */
typedef struct {
  kiln_length length;
  int64_t multiple, at_most, exactly;
} kiln_cuda_guard;

typedef struct kiln_cuda_loaded kiln_cuda_loaded;
typedef struct kiln_cuda_functions kiln_cuda_functions;

typedef struct {
  const kiln_cuda_functions* functions; /* what the rest of the runtime calls, so that a set for CPUs alone links none of it */
  const unsigned char* cubin;
  const char* arch;             /* "sm_90a" */
  int32_t major, minor;         /* compute capability that it is for */
  int32_t is_of_one_capability; /* no other minor either: an `a` target */
  const kiln_cuda_kernel* kernels;
  int32_t kernel_count;
  const kiln_cuda_between* betweens;
  int32_t between_count;
  const kiln_cuda_guard* guards;
  int32_t guard_count;
  _Atomic(kiln_cuda_loaded*)* loaded; /* KILN_CUDA_DEVICES, zero at start */
} kiln_cuda_program;

/* What only a call on a GPU has. */
typedef struct {
  void* workspace;
  size_t workspace_bytes;
  void* stream; /* a CUstream */
  unsigned launches_plainly; /* 0 or 1: the plan's, which kiln_run_plan fills in */
} kiln_cuda_call;

struct kiln_entry;
struct kiln_set;

struct kiln_cuda_functions {
  /* Whether the program serves dense arguments of these dimensions on this device; 0 or a code. Asks the driver what the device is. */
  int (*check)(const struct kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims, int device);

  /* Bytes that lie between its kernels. */
  uint64_t (*workspace_bytes)(const struct kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims);

  /* Puts the program onto the device unless it is there. Not while a stream of the device is captured into a graph. */
  int (*load)(const char* who, const kiln_cuda_program* program, int device);

  /* Launches the kernels of a loaded program. `values` has one pointer an argument, as kiln_run_plan's. Allocates nothing and takes no lock. */
  int (*run)(const struct kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims, int device, void* const* values,
             const kiln_cuda_call* call);

  /* Gives every program and device of the set back. */
  void (*unload)(const struct kiln_set* set);
};
extern const kiln_cuda_functions kiln_cuda;

/* Every program of the set that the device can run. */
int kiln_cuda_load_device(const struct kiln_set* set, int device);

/* --- between set_cuda.c and set_cuda_driver.c ---------------------------------------------------------------------------------------------- */

typedef struct kiln_cuda_launch {
  unsigned grid, threads, shared_bytes, is_dependent;
  void* stream;
} kiln_cuda_launch;

int kiln_cuda_load(const char* who, const kiln_cuda_program* program, int device);
void kiln_cuda_unload(const struct kiln_set* set);

/* Facts about a device; 0 or a code with `who` in its text. */
int kiln_cuda_capability(const char* who, int device, int* major, int* minor);

/* Makes the device's context current for this thread unless one of it is. `entered` says whether kiln_cuda_leave must follow. */
int kiln_cuda_enter(const char* who, int device, int* entered);
void kiln_cuda_leave(int entered);

/* Multiprocessors of a device on which something is loaded. */
int kiln_cuda_sms(int device);

/* The 128 bytes of a CUtensorMap, at a multiple of 64. */
int kiln_cuda_encode(const char* who, const kiln_cuda_map* map, uint64_t address, const uint64_t extents[2], void* encoded);

int kiln_cuda_start(const char* who, const kiln_cuda_program* program, int device, int kernel, const kiln_cuda_launch* launch, void** values);

#endif
