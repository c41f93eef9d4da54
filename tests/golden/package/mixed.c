/* Kernel set mixed 2.0.1: what it holds, and its functions. Contracts are in mixed.h. */
#include "mixed.h"

#include "generators/runtime/set.h"
#include "generators/runtime/set_cpu.h"

_Static_assert(sizeof(mixed_opts) == sizeof(kiln_options) && offsetof(mixed_opts, warn_user) == offsetof(kiln_options, warn_user), "options");
_Static_assert(sizeof(mixed_plan) == KILN_PLAN_BYTES && sizeof(kiln_plan) <= sizeof(mixed_plan) && offsetof(mixed_plan, variant) == offsetof(kiln_plan, variant) &&
                   offsetof(mixed_plan, workspace_bytes) == offsetof(kiln_plan, workspace_bytes) &&
                   offsetof(mixed_plan, launches_plainly) == offsetof(kiln_plan, launches_plainly), "plan");

int kernel_0(void** arguments); /* scale_exact_argv */
int kernel_1(void** arguments); /* scale_argv */

/* --- scale(f32, mode=half) */

static const kiln_argument scale_arguments[] = {
    {.name = "in", .type_code = KILN_TYPE_FLOAT, .type_bits = 32, .rank = 2, .unit_dimension = 0, .first_dimension = 0},
    {.name = "factor", .is_scalar = 1, .type_code = KILN_TYPE_FLOAT, .type_bits = 32, .rank = 0, .unit_dimension = 0, .first_dimension = 2},
    {.name = "y", .is_output = 1, .type_code = KILN_TYPE_BFLOAT, .type_bits = 16, .rank = 2, .unit_dimension = 0, .first_dimension = 2},
};
static const kiln_axis scale_axes_0[] = {{0, 1}, {2, 1}}; /* m */
static const kiln_axis scale_axes_1[] = {{0, 0}, {2, 0}}; /* n */
static const kiln_symbol scale_symbols[] = {
    {.name = "m", .axes = scale_axes_0, .axis_count = 2},
    {.name = "n", .axes = scale_axes_1, .axis_count = 2},
};
static const kiln_extent_guard scale_extents_0[] = {{0, INT64_C(16), INT64_C(16)}, {1, INT64_C(4096), INT64_C(4096)}};
static const int32_t scale_alignment_0[] = {32, 1, 16};
static const int32_t scale_alignment_1[] = {4, 1, 2};
static const kiln_variant scale_variants[] = {
    {.kernel = kernel_0, .tier = KILN_TIER_EXACT,
     .features = KILN_CPU_BIT(SSE41) | KILN_CPU_BIT(SSSE3) | KILN_CPU_BIT(SSE42) | KILN_CPU_BIT(AVX) | KILN_CPU_BIT(F16C) | KILN_CPU_BIT(FMA) | KILN_CPU_BIT(AVX2),
     .extents = scale_extents_0, .extent_count = 2,
     .alignment_bytes = scale_alignment_0, .is_pointwise = 0, .candidate = "687ed5e438331c9590b2e824dc59a568b26f85aac63dbaa245a4e0401c41b7ce"},
    {.kernel = kernel_1, .tier = KILN_TIER_GENERIC,
     .features = KILN_CPU_BIT(SSE41) | KILN_CPU_BIT(SSSE3),
     .alignment_bytes = scale_alignment_1, .is_pointwise = 1, .candidate = "b3e10e68ab8e26b96abb0815baba7d21e1d7b7524f1aabcc61e3d1f0f8becb4f"},
};
static kiln_call_slot scale_slots[KILN_CALL_SLOTS];
static int64_t scale_keys[KILN_CALL_SLOTS * 2];
static kiln_calls scale_calls = {.slots = scale_slots, .keys = scale_keys};

/* --- scaled(bf16) */

static const kiln_argument scaled_arguments[] = {
    {.name = "x", .type_code = KILN_TYPE_BFLOAT, .type_bits = 16, .rank = 2, .unit_dimension = 0, .first_dimension = 0},
    {.name = "eps", .is_scalar = 1, .type_code = KILN_TYPE_FLOAT, .type_bits = 32, .rank = 0, .unit_dimension = 0, .first_dimension = 2},
    {.name = "y", .is_output = 1, .type_code = KILN_TYPE_BFLOAT, .type_bits = 16, .rank = 2, .unit_dimension = 0, .first_dimension = 2},
};
static const kiln_axis scaled_axes_0[] = {{0, 1}, {2, 1}}; /* m */
static const kiln_axis scaled_axes_1[] = {{0, 0}, {2, 0}}; /* n */
static const kiln_symbol scaled_symbols[] = {
    {.name = "m", .axes = scaled_axes_0, .axis_count = 2},
    {.name = "n", .axes = scaled_axes_1, .axis_count = 2},
};
extern const unsigned char kernel_2_cubin[];
static const kiln_length kernel_2_0_grid_0[] = {{0, 1, 0}};
static const kiln_length kernel_2_0_count_2[] = {{0, 0, 0}};
static const kiln_cuda_grid kernel_2_0_grid[] = {{kernel_2_0_grid_0, 1, INT64_C(2)}};
static const kiln_cuda_parameter kernel_2_0_parameters[] = {
    {.kind = KILN_PARAMETER_BUFFER, .place = 0},
    {.kind = KILN_PARAMETER_BETWEEN, .place = 0},
    {.kind = KILN_PARAMETER_COUNT32, .lengths = kernel_2_0_count_2, .count = 1},
};
static const kiln_length kernel_2_1_grid_0[] = {{0, 1, 0}};
static const kiln_length kernel_2_1_grid_1[] = {{0, 0, 0}, {-1, 0, INT64_C(3)}};
static const kiln_length kernel_2_1_count_4[] = {{0, 0, 0}, {0, 1, 0}};
static const kiln_length kernel_2_1_count_5[] = {{0, 0, 0}, {0, 1, 0}};
static const kiln_cuda_map kernel_2_1_count_5_map = {.type = 9, .element_bytes = 2, .is_between = 0, .box = {64, 32}, .swizzle = 3, .l2_promotion = 2};
static const kiln_cuda_grid kernel_2_1_grid[] = {{kernel_2_1_grid_0, 1, INT64_C(1)}, {kernel_2_1_grid_1, 2, INT64_C(64)}};
static const kiln_cuda_parameter kernel_2_1_parameters[] = {
    {.kind = KILN_PARAMETER_BUFFER, .place = 0},
    {.kind = KILN_PARAMETER_BETWEEN, .place = 0},
    {.kind = KILN_PARAMETER_SCALAR, .place = 1},
    {.kind = KILN_PARAMETER_BUFFER, .place = 2},
    {.kind = KILN_PARAMETER_COUNT64, .lengths = kernel_2_1_count_4, .count = 2},
    {.kind = KILN_PARAMETER_MAP, .place = 0, .lengths = kernel_2_1_count_5, .count = 2, .map = &kernel_2_1_count_5_map},
};
static const kiln_cuda_kernel kernel_2_kernels[] = {
    {.name = "scaled_sums", .threads = 64, .cluster = 1, .shared_bytes = 0, .is_dependent = 0,
     .grid = kernel_2_0_grid, .grid_count = 1, .parameters = kernel_2_0_parameters, .parameter_count = 3, .blocks_per_sm = 1},
    {.name = "scaled_y", .threads = 128, .cluster = 2, .shared_bytes = 65536, .is_dependent = 1,
     .grid = kernel_2_1_grid, .grid_count = 2, .parameters = kernel_2_1_parameters, .parameter_count = 6},
};
static const kiln_length kernel_2_between_0[] = {{0, 1, 0}};
static const kiln_cuda_between kernel_2_betweens[] = {
    {.lengths = kernel_2_between_0, .count = 1, .element_bytes = 4}, /* sums */
};
static const kiln_cuda_guard kernel_2_guards[] = {
    {.length = {0, 0, 0}, .multiple = 8, .at_most = INT64_C(128), .exactly = INT64_C(0)},
};
static _Atomic(kiln_cuda_loaded*) kernel_2_loaded[KILN_CUDA_DEVICES];
static const kiln_cuda_program kernel_2 = {.functions = &kiln_cuda, .cubin = kernel_2_cubin, .arch = "sm_90a", .major = 9, .minor = 0, .is_of_one_capability = 1,
    .kernels = kernel_2_kernels, .kernel_count = 2, .betweens = kernel_2_betweens, .between_count = 1, .guards = kernel_2_guards, .guard_count = 1, .loaded = kernel_2_loaded};
static const kiln_extent_guard scaled_extents_0[] = {{0, INT64_C(4), INT64_C(4)}, {1, INT64_C(64), INT64_C(64)}};
static const int32_t scaled_alignment_0[] = {16, 1, 16};
static const kiln_extent_guard scaled_extents_1[] = {{0, INT64_C(5), INT64_C(9)}, {1, INT64_C(1), INT64_C(4096)}};
static const int32_t scaled_alignment_1[] = {16, 1, 16};
static const kiln_variant scaled_variants[] = {
    {.cuda = &kernel_2, .tier = KILN_TIER_EXACT,
     .features = 0,
     .extents = scaled_extents_0, .extent_count = 2,
     .alignment_bytes = scaled_alignment_0, .is_pointwise = 0, .candidate = "3a894c3128baad4d48f3834a9fb081a378ae3035d298e752ac7183c15296a490"},
    {.cuda = &kernel_2, .tier = KILN_TIER_BUCKET,
     .features = 0,
     .extents = scaled_extents_1, .extent_count = 2,
     .alignment_bytes = scaled_alignment_1, .is_pointwise = 0, .candidate = "3a894c3128baad4d48f3834a9fb081a378ae3035d298e752ac7183c15296a490"},
};
static kiln_call_slot scaled_slots[KILN_CALL_SLOTS];
static int64_t scaled_keys[KILN_CALL_SLOTS * 2];
static kiln_calls scaled_calls = {.slots = scaled_slots, .keys = scaled_keys};

enum { scale_entry, scaled_entry };

static const kiln_entry entries[] = {
    {.name = "scale", .operator_name = "scale", .problem_tail = ", f32, mode=half",
     .arguments = scale_arguments, .argument_count = 3, .symbols = scale_symbols, .symbol_count = 2,
     .variants = scale_variants, .variant_count = 2, .calls = &scale_calls},
    {.name = "scaled", .operator_name = "scaled", .problem_tail = ", bf16",
     .arguments = scaled_arguments, .argument_count = 3, .symbols = scaled_symbols, .symbol_count = 2,
     .variants = scaled_variants, .variant_count = 2, .calls = &scaled_calls},
};
static const kiln_set this_set = {.name = "mixed", .threads = 2, .entries = entries, .entry_count = 2};

int mixed_abi_version(void) { return KILN_SET_ABI; }
int mixed_load(const mixed_opts* options) { return kiln_load(&this_set, (const kiln_options*)options); }
int mixed_unload(void) { return kiln_unload(&this_set); }
int mixed_threads(void) { return kiln_host_threads(); }
int mixed_supports(const char* entry, const int64_t* extents, DLDevice device) { return kiln_supports(&this_set, entry, extents, device); }
int mixed_load_device(int device) { return kiln_cuda_load_device(&this_set, device); }
int mixed_dump_calls(const char* path) { return kiln_dump_calls(&this_set, path); }
const char* mixed_last_error(void) { return kiln_host_error_text(); }

/* For the exporter's last check, and not in the header: one variant by its place, whatever dispatch would choose. */
MIXED_API int mixed_verify_plan(const char* entry, int variant, const DLTensor* const* tensors, mixed_plan* plan);
int mixed_verify_plan(const char* entry, int variant, const DLTensor* const* tensors, mixed_plan* plan) {
  const kiln_entry* found = kiln_find_entry(&this_set, entry);
  if (found == NULL) return kiln_host_fail(KILN_ERR_NO_VARIANT, "mixed: there is no entry %s", entry ? entry : "NULL");
  return kiln_make_plan_with(found, variant, tensors, (kiln_plan*)plan);
}
MIXED_API int mixed_verify_run(const mixed_plan* plan, void* const* values, void* workspace, size_t workspace_bytes, void* stream);
int mixed_verify_run(const mixed_plan* plan, void* const* values, void* workspace, size_t workspace_bytes, void* stream) {
  const kiln_cuda_call cuda = {.workspace = workspace, .workspace_bytes = workspace_bytes, .stream = stream};
  return kiln_run_plan(((const kiln_plan*)plan)->entry, (const kiln_plan*)plan, values, &cuda);
}

int mixed_scale_plan(const DLTensor* in_, const DLTensor* y, mixed_plan* plan) {
  const DLTensor* const tensors[] = {in_, NULL, y};
  return kiln_make_plan(&entries[scale_entry], tensors, (kiln_plan*)plan);
}

int mixed_scale_run(const mixed_plan* plan, const void* in_, float factor, void* y, void* workspace, size_t workspace_bytes, void* stream) {
  void* const values[] = {(void*)(uintptr_t)in_, &factor, y};
  const kiln_cuda_call cuda = {.workspace = workspace, .workspace_bytes = workspace_bytes, .stream = stream};
  return kiln_run_plan(&entries[scale_entry], (const kiln_plan*)plan, values, &cuda);
}

int mixed_scale(const DLTensor* in_, float factor, const DLTensor* y, void* workspace, size_t workspace_bytes, void* stream) {
  mixed_plan plan;
  const int code = mixed_scale_plan(in_, y, &plan);
  return code ? code : mixed_scale_run(&plan, (char*)in_->data + in_->byte_offset, factor, (char*)y->data + y->byte_offset, workspace, workspace_bytes, stream);
}

int mixed_scaled_plan(const DLTensor* x, const DLTensor* y, mixed_plan* plan) {
  const DLTensor* const tensors[] = {x, NULL, y};
  return kiln_make_plan(&entries[scaled_entry], tensors, (kiln_plan*)plan);
}

int mixed_scaled_run(const mixed_plan* plan, const void* x, float eps, void* y, void* workspace, size_t workspace_bytes, void* stream) {
  void* const values[] = {(void*)(uintptr_t)x, &eps, y};
  const kiln_cuda_call cuda = {.workspace = workspace, .workspace_bytes = workspace_bytes, .stream = stream};
  return kiln_run_plan(&entries[scaled_entry], (const kiln_plan*)plan, values, &cuda);
}

int mixed_scaled(const DLTensor* x, float eps, const DLTensor* y, void* workspace, size_t workspace_bytes, void* stream) {
  mixed_plan plan;
  const int code = mixed_scaled_plan(x, y, &plan);
  return code ? code : mixed_scaled_run(&plan, (char*)x->data + x->byte_offset, eps, (char*)y->data + y->byte_offset, workspace, workspace_bytes, stream);
}

