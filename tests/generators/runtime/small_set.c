#include "tests/generators/runtime/small_set.h"

#include "generators/runtime/set.h"

typedef int (*loop_task)(void* user_context, int index, uint8_t* closure);
int halide_do_par_for(void* user_context, loop_task task, int min, int count, uint8_t* closure);

static int add_row(void* user_context, int row, uint8_t* closure) {
  void** arguments = (void**)(void*)closure;
  const kiln_halide_buffer *x = arguments[0], *y = arguments[2];
  const float s = *(const float*)arguments[1];
  (void)user_context;
  for (int i = 0; i < y->dim[0].extent; ++i) {
    ((float*)(void*)y->host)[row * y->dim[1].stride + i] = ((const float*)(const void*)x->host)[row * x->dim[1].stride + i] + s;
  }
  return 0;
}

/* What Halide's objects do first: buffers without memory are told the region that is needed. */
static int answer_query(void** arguments, int rounding) {
  kiln_halide_buffer *x = arguments[0], *y = arguments[2];
  if (x->host != NULL && y->host != NULL) return 0;
  y->dim[0].extent = (y->dim[0].extent + rounding - 1) / rounding * rounding;
  x->dim[0].extent = y->dim[0].extent;
  x->dim[1].extent = y->dim[1].extent;
  return 1;
}

static int add_rows(void** arguments, int rounding) {
  if (answer_query(arguments, rounding)) return 0;
  kiln_halide_buffer* y = arguments[2];
  if (*(const float*)arguments[1] == -1.0f) return kiln_host_fail(-27, "s is -1, which this kernel does not like");
  return halide_do_par_for(NULL, add_row, 0, y->dim[1].extent, (uint8_t*)arguments);
}

static int rows_any(void** arguments) { return add_rows(arguments, 1); }
static int rows_eights(void** arguments) { return add_rows(arguments, 8); }

static const kiln_argument arguments[] = {
    {.name = "x", .type_code = KILN_TYPE_FLOAT, .type_bits = 32, .rank = 2, .first_dimension = 0},
    {.name = "s", .is_scalar = 1, .type_code = KILN_TYPE_FLOAT, .type_bits = 32, .first_dimension = 2},
    {.name = "y", .is_output = 1, .type_code = KILN_TYPE_FLOAT, .type_bits = 32, .rank = 2, .first_dimension = 2},
};
static const kiln_axis height[] = {{0, 1}, {2, 1}}, width[] = {{0, 0}, {2, 0}};
static const kiln_symbol symbols[] = {{.name = "h", .axes = height, .axis_count = 2}, {.name = "w", .axes = width, .axis_count = 2}};
static const kiln_extent_guard exact_extents[] = {{0, 4, 4}, {1, 8, 8}}, bucket_extents[] = {{0, 1, 16}, {1, 8, 64}}, narrow[] = {{1, 0, 4}};
static const int32_t aligned[] = {32, 1, 32}, elements[] = {4, 1, 4};
enum { kNoSuchBit = 63 };
static const kiln_variant rows_variants[] = {
    {.kernel = rows_eights, .tier = KILN_TIER_EXACT, .extents = exact_extents, .extent_count = 2, .alignment_bytes = aligned, .candidate = "a"},
    {.kernel = rows_eights, .tier = KILN_TIER_BUCKET, .extents = bucket_extents, .extent_count = 2, .alignment_bytes = elements, .candidate = "b"},
    {.kernel = rows_any, .tier = KILN_TIER_GENERIC, .features = UINT64_C(1) << kNoSuchBit, .alignment_bytes = elements, .candidate = "c"},
    {.kernel = rows_any, .tier = KILN_TIER_GENERIC, .alignment_bytes = elements, .is_pointwise = 1, .candidate = "d"},
};
static const kiln_variant nowhere_variants[] = {
    {.kernel = rows_any, .tier = KILN_TIER_EXACT, .features = UINT64_C(3), .extents = narrow, .extent_count = 1, .alignment_bytes = elements, .candidate = "e"},
};
static kiln_call_slot rows_slots[KILN_CALL_SLOTS], nowhere_slots[KILN_CALL_SLOTS];
static int64_t rows_keys[KILN_CALL_SLOTS * 2], nowhere_keys[KILN_CALL_SLOTS * 2];
static kiln_calls rows_calls = {.slots = rows_slots, .keys = rows_keys}, nowhere_calls = {.slots = nowhere_slots, .keys = nowhere_keys};
static const kiln_entry entries[] = {
    {.name = "rows", .operator_name = "rows", .problem_tail = ", f32", .arguments = arguments, .argument_count = 3, .symbols = symbols, .symbol_count = 2,
     .variants = rows_variants, .variant_count = 4, .calls = &rows_calls},
    {.name = "nowhere", .operator_name = "rows", .problem_tail = ", f32", .arguments = arguments, .argument_count = 3, .symbols = symbols, .symbol_count = 2,
     .variants = nowhere_variants, .variant_count = 1, .calls = &nowhere_calls},
};
static const kiln_set this_set = {.name = "small", .threads = 2, .entries = entries, .entry_count = 2};

_Static_assert(sizeof(small_opts) == sizeof(kiln_options), "options");
_Static_assert(sizeof(small_plan) == KILN_PLAN_BYTES && sizeof(kiln_plan) <= sizeof(small_plan), "plan");

int small_load(const small_opts* options) { return kiln_load(&this_set, (const kiln_options*)options); }
int small_unload(void) { return kiln_unload(&this_set); }
int small_supports(const char* entry, const int64_t* extents) { return kiln_supports(&this_set, entry, extents, (DLDevice){.device_type = kDLCPU, .device_id = 0}); }
int small_dump_calls(const char* path) { return kiln_dump_calls(&this_set, path); }
const char* small_last_error(void) { return kiln_host_error_text(); }

int small_rows_plan(const DLTensor* x, const DLTensor* y, small_plan* plan) {
  const DLTensor* const tensors[] = {x, NULL, y};
  return kiln_make_plan(&entries[0], tensors, (kiln_plan*)plan);
}

int small_rows_plan_with(int variant, const DLTensor* x, const DLTensor* y, small_plan* plan) {
  const DLTensor* const tensors[] = {x, NULL, y};
  return kiln_make_plan_with(&entries[0], variant, tensors, (kiln_plan*)plan);
}

int small_rows_run(const small_plan* plan, const void* x, float s, void* y) {
  void* const values[] = {(void*)(uintptr_t)x, &s, y};
  return kiln_run_plan(&entries[0], (const kiln_plan*)plan, values, NULL);
}

int small_nowhere_plan(const DLTensor* x, const DLTensor* y, small_plan* plan) {
  const DLTensor* const tensors[] = {x, NULL, y};
  return kiln_make_plan(&entries[1], tensors, (kiln_plan*)plan);
}
