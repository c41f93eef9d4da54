/* What every kernel set does: check a call, choose the variant that serves it, run it, count it. A set is constant tables (written by
   generators/package) over the functions declared here; a package keeps all of these names local to itself. */
#ifndef KILN_RUNTIME_SET_H
#define KILN_RUNTIME_SET_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "generators/runtime/dlpack_view.h"
#include "generators/runtime/halide_abi.h"
#include "generators/runtime/host.h"
#include "generators/runtime/set_cuda.h"
#include "generators/runtime/set_numbers.h"

typedef struct {
  const char* name;
  uint8_t is_output, is_scalar;
  uint8_t type_code, type_bits; /* as Halide numbers them */
  int32_t rank;
  int32_t unit_dimension;  /* the dimension (Halide's) whose stride must be 1 */
  int32_t first_dimension; /* where its dimensions begin in a plan */
} kiln_argument;

/* One dimension of one argument, as Halide counts: 0 is the innermost. */
typedef struct {
  int32_t argument, dimension;
} kiln_axis;

typedef struct {
  const char* name;
  const kiln_axis* axes;
  int32_t axis_count;
} kiln_symbol;

/* The extent of a symbol lies in [least, most]. */
typedef struct {
  int32_t symbol;
  int64_t least, most;
} kiln_extent_guard;

typedef struct {
  kiln_kernel kernel;            /* of a CPU */
  const kiln_cuda_program* cuda; /* of a GPU; one of the two is NULL */
  int32_t tier;
  uint64_t features; /* KILN_CPU_… bits that the object's instructions need */
  const kiln_extent_guard* extents;
  int32_t extent_count;
  const int32_t* alignment_bytes; /* one an argument; 1 for scalars */
  int32_t is_pointwise;           /* an output may be the very same view as an input */
  const char* candidate;
} kiln_variant;

/* One shape of one entry, counted per tier. `state` says whether the key is written; extents live in kiln_calls.keys. */
typedef struct {
  atomic_int state;
  int32_t tier;
  _Atomic uint64_t calls;
} kiln_call_slot;

typedef struct {
  kiln_call_slot* slots; /* KILN_CALL_SLOTS, zero at start */
  int64_t* keys;         /* KILN_CALL_SLOTS times the entry's symbols */
  atomic_int used;
  kiln_call_slot overflow; /* calls of shapes beyond KILN_CALL_SHAPES */
  atomic_int has_warned;
} kiln_calls;

typedef struct kiln_entry {
  const char* name;          /* as in kernel-set functions and the manifest */
  const char* operator_name; /* as in a problem's text */
  const char* problem_tail;  /* what follows the extents in a problem's text: ", f32, epilogue=silu" */
  const kiln_argument* arguments;
  int32_t argument_count;
  const kiln_symbol* symbols; /* in printing order */
  int32_t symbol_count;
  const kiln_variant* variants; /* in dispatch order */
  int32_t variant_count;
  kiln_calls* calls;
} kiln_entry;

typedef struct kiln_set {
  const char* name;
  int32_t threads; /* that the kernels were tuned with */
  const kiln_entry* entries;
  int32_t entry_count;
} kiln_set;

/* The public options struct of every set has exactly this layout. */
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
} kiln_options;

typedef struct {
  uint32_t size;
  int32_t tier;
  int32_t variant; /* index in the entry's dispatch order */
  uint32_t load_number;
  uint64_t workspace_bytes;
  uint64_t launches_plainly; /* the caller's to set */
  const kiln_entry* entry;
  kiln_call_slot* counted;
  int32_t is_empty; /* no output has an element: nothing to do */
  int32_t device;   /* of a GPU's variant: its ordinal */
  kiln_halide_dimension dims[KILN_MAX_DIMENSIONS];
} kiln_plan;

/* What a call asks for, read from its views. */
typedef struct {
  kiln_halide_dimension dims[KILN_MAX_DIMENSIONS];
  void* addresses[KILN_MAX_ARGUMENTS]; /* data + byte_offset; NULL for scalars */
  int64_t extents[KILN_MAX_SYMBOLS];
  DLDevice device;                     /* of every buffer */
} kiln_call;

/* --- set_check.c: facts about one call, whatever the variant ------------------------------------------------------------------------------ */

/* Reads and checks every view. `tensors` has one pointer an argument; those of scalars are not read. */
int kiln_read_call(const kiln_entry* entry, const DLTensor* const* tensors, kiln_call* call);

/* One of the argument's own `dims` has no elements. */
int kiln_is_empty(const kiln_argument* argument, const kiln_halide_dimension* dims);

/* Outputs may not overlap other arguments; equal views are allowed to pointwise variants. `dims` as in a plan. */
int kiln_check_alias(const kiln_entry* entry, const kiln_variant* variant, const kiln_halide_dimension* dims, void* const* addresses);

/* Addresses are multiples of what the variant was checked at. */
int kiln_check_alignment(const kiln_entry* entry, const kiln_variant* variant, void* const* addresses);

/* --- set_plan.c --------------------------------------------------------------------------------------------------------------------------- */

int kiln_make_plan(const kiln_entry* entry, const DLTensor* const* tensors, kiln_plan* plan);

/* The same with this variant and no other: its guards still hold, or their code is returned. For the exporter's last check. */
int kiln_make_plan_with(const kiln_entry* entry, int variant, const DLTensor* const* tensors, kiln_plan* plan);

/* `values` has one pointer an argument: the first element of a buffer, the address of a scalar. `cuda` is read for a GPU's plan alone; NULL: no workspace,
   and the default stream. Allocates nothing and takes no lock. */
int kiln_run_plan(const kiln_entry* entry, const kiln_plan* plan, void* const* values, const kiln_cuda_call* cuda);

/* The tier that would serve densely stored arguments of these extents (one a symbol) on this device, or a negative code. */
int kiln_supports(const kiln_set* set, const char* entry_name, const int64_t* extents, DLDevice device);

/* A device in words: "cpu", "cuda:0". Returns `text`. */
const char* kiln_print_device(DLDevice device, char* text, size_t bytes);

/* --- set_load.c --------------------------------------------------------------------------------------------------------------------------- */

int kiln_load(const kiln_set* set, const kiln_options* options);
int kiln_unload(const kiln_set* set);
uint32_t kiln_load_number(void); /* 0 while not loaded; a new number after each load */
uint64_t kiln_loaded_features(void);
int kiln_fallback(void);
void kiln_warn(const char* text); /* through the application's function, if it gave one */
const kiln_entry* kiln_find_entry(const kiln_set* set, const char* name);

/* --- set_calls.c -------------------------------------------------------------------------------------------------------------------------- */

/* The counter of this shape and tier; the overflow's when the table is full. Lock-free. */
kiln_call_slot* kiln_call_counter(const kiln_entry* entry, const int64_t* extents, int tier);
void kiln_reset_window(void);
int kiln_dump_calls(const kiln_set* set, const char* path);

/* Writes "m=1, n=1024, k=1024" and returns `text`. */
const char* kiln_print_extents(const kiln_entry* entry, const int64_t* extents, char* text, size_t bytes);

#endif
