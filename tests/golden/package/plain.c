/* Kernel set plain 2.0.1: what it holds, and its functions. Contracts are in plain.h. */
#include "plain.h"

#include "generators/runtime/set.h"
#include "generators/runtime/set_cpu.h"

_Static_assert(sizeof(plain_opts) == sizeof(kiln_options) && offsetof(plain_opts, warn_user) == offsetof(kiln_options, warn_user), "options");
_Static_assert(sizeof(plain_plan) == KILN_PLAN_BYTES && sizeof(kiln_plan) <= sizeof(plain_plan) && offsetof(plain_plan, variant) == offsetof(kiln_plan, variant) &&
                   offsetof(plain_plan, workspace_bytes) == offsetof(kiln_plan, workspace_bytes) &&
                   offsetof(plain_plan, launches_plainly) == offsetof(kiln_plan, launches_plainly), "plan");

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

enum { scale_entry };

static const kiln_entry entries[] = {
    {.name = "scale", .operator_name = "scale", .problem_tail = ", f32, mode=half",
     .arguments = scale_arguments, .argument_count = 3, .symbols = scale_symbols, .symbol_count = 2,
     .variants = scale_variants, .variant_count = 2, .calls = &scale_calls},
};
static const kiln_set this_set = {.name = "plain", .threads = 2, .entries = entries, .entry_count = 1};

int plain_abi_version(void) { return KILN_SET_ABI; }
int plain_load(const plain_opts* options) { return kiln_load(&this_set, (const kiln_options*)options); }
int plain_unload(void) { return kiln_unload(&this_set); }
int plain_threads(void) { return kiln_host_threads(); }
int plain_supports(const char* entry, const int64_t* extents) {
  return kiln_supports(&this_set, entry, extents, (DLDevice){.device_type = kDLCPU, .device_id = 0});
}
int plain_dump_calls(const char* path) { return kiln_dump_calls(&this_set, path); }
const char* plain_last_error(void) { return kiln_host_error_text(); }

/* For the exporter's last check, and not in the header: one variant by its place, whatever dispatch would choose. */
PLAIN_API int plain_verify_plan(const char* entry, int variant, const DLTensor* const* tensors, plain_plan* plan);
int plain_verify_plan(const char* entry, int variant, const DLTensor* const* tensors, plain_plan* plan) {
  const kiln_entry* found = kiln_find_entry(&this_set, entry);
  if (found == NULL) return kiln_host_fail(KILN_ERR_NO_VARIANT, "plain: there is no entry %s", entry ? entry : "NULL");
  return kiln_make_plan_with(found, variant, tensors, (kiln_plan*)plan);
}
PLAIN_API int plain_verify_run(const plain_plan* plan, void* const* values, void* workspace, size_t workspace_bytes, void* stream);
int plain_verify_run(const plain_plan* plan, void* const* values, void* workspace, size_t workspace_bytes, void* stream) {
  const kiln_cuda_call cuda = {.workspace = workspace, .workspace_bytes = workspace_bytes, .stream = stream};
  return kiln_run_plan(((const kiln_plan*)plan)->entry, (const kiln_plan*)plan, values, &cuda);
}

int plain_scale_plan(const DLTensor* in_, const DLTensor* y, plain_plan* plan) {
  const DLTensor* const tensors[] = {in_, NULL, y};
  return kiln_make_plan(&entries[scale_entry], tensors, (kiln_plan*)plan);
}

int plain_scale_run(const plain_plan* plan, const void* in_, float factor, void* y) {
  void* const values[] = {(void*)(uintptr_t)in_, &factor, y};
  return kiln_run_plan(&entries[scale_entry], (const kiln_plan*)plan, values, NULL);
}

int plain_scale(const DLTensor* in_, float factor, const DLTensor* y) {
  plain_plan plan;
  const int code = plain_scale_plan(in_, y, &plan);
  return code ? code : plain_scale_run(&plan, (char*)in_->data + in_->byte_offset, factor, (char*)y->data + y->byte_offset);
}

