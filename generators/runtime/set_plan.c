/* From a call to the variant that serves it, and running it. A variant serves a call if its guard holds, the CPU has its features, the addresses
   are aligned, and Halide's own bounds query answers with regions that lie inside the buffers given. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "generators/runtime/set.h"
#include "generators/runtime/set_cpu.h"

static void fill_buffer(const kiln_argument* argument, kiln_halide_dimension* dims, void* host, kiln_halide_buffer* buffer) {
  memset(buffer, 0, sizeof *buffer);
  buffer->host = host;
  buffer->type = (kiln_halide_type){.code = argument->type_code, .bits = argument->type_bits, .lanes = 1};
  buffer->dimensions = argument->rank;
  buffer->dim = dims;
}

/* Asks the kernel which region of every buffer it touches. Scalars are zero here; where a region depends on one, the kernel's own check in run,
   which knows its value, has the last word. */
static int query_bounds(const kiln_entry* entry, const kiln_variant* variant, kiln_halide_dimension* dims) {
  kiln_halide_buffer buffers[KILN_MAX_ARGUMENTS];
  void* arguments[KILN_MAX_ARGUMENTS];
  uint64_t zero[2] = {0, 0};
  for (int a = 0; a < entry->argument_count; ++a) {
    const kiln_argument* argument = &entry->arguments[a];
    if (!argument->is_scalar) fill_buffer(argument, &dims[argument->first_dimension], NULL, &buffers[a]);
    arguments[a] = argument->is_scalar ? (void*)zero : (void*)&buffers[a];
  }
  return variant->kernel(arguments);
}

static int fail_region(const kiln_entry* entry, const kiln_argument* argument, int d, const kiln_halide_dimension* needed, int32_t given) {
  const int dimension = argument->rank - 1 - d;
  const int64_t last = (int64_t)needed->min + needed->extent - 1;
  if (needed->min == 0) {
    return kiln_host_fail(KILN_ERR_SHAPE, "%s: dimension %d of %s has %d elements, %" PRId64 " are needed", entry->name, dimension, argument->name, given, last + 1);
  }
  return kiln_host_fail(KILN_ERR_SHAPE, "%s: dimension %d of %s has elements 0 to %d, %d to %" PRId64 " are needed", entry->name, dimension, argument->name,
                        given - 1, needed->min, last);
}

static int check_regions(const kiln_entry* entry, const kiln_halide_dimension* needed, const kiln_halide_dimension* given) {
  for (int a = 0; a < entry->argument_count; ++a) {
    const kiln_argument* argument = &entry->arguments[a];
    for (int d = 0; d < argument->rank; ++d) {
      const kiln_halide_dimension* n = &needed[argument->first_dimension + d];
      const int32_t extent = given[argument->first_dimension + d].extent;
      if (n->extent <= 0) continue;
      if (n->min < 0 || (int64_t)n->min + n->extent > extent) return fail_region(entry, argument, d, n, extent);
    }
  }
  return 0;
}

static size_t dimension_bytes(const kiln_entry* entry) {
  const kiln_argument* last = &entry->arguments[entry->argument_count - 1];
  return sizeof(kiln_halide_dimension) * (size_t)(last->first_dimension + last->rank);
}

static int check_bounds(const kiln_entry* entry, const kiln_variant* variant, const kiln_halide_dimension* dims) {
  kiln_halide_dimension needed[KILN_MAX_DIMENSIONS];
  memcpy(needed, dims, dimension_bytes(entry));
  const int code = query_bounds(entry, variant, needed);
  if (code != 0) return kiln_host_fail(KILN_ERR_SHAPE, "%s: %s", entry->name, kiln_host_error_text());
  return check_regions(entry, needed, dims);
}

static int extents_fit(const kiln_variant* variant, const int64_t* extents) {
  for (int i = 0; i < variant->extent_count; ++i) {
    const kiln_extent_guard* guard = &variant->extents[i];
    if (extents[guard->symbol] < guard->least || extents[guard->symbol] > guard->most) return 0;
  }
  return 1;
}

static int check_features(const kiln_entry* entry, const kiln_variant* variant) {
  char missing[160];
  const uint64_t lacking = variant->features & ~kiln_loaded_features();
  if (lacking == 0) return 0;
  return kiln_host_fail(KILN_ERR_NO_IMAGE, "%s: this CPU lacks %s", entry->name, kiln_print_features(lacking, missing, sizeof missing));
}

static int fail_extents(const kiln_entry* entry, const kiln_call* call, const char* what) {
  char extents[256];
  return kiln_host_fail(KILN_ERR_NO_VARIANT, "%s: %s for %s", entry->name, what, kiln_print_extents(entry, call->extents, extents, sizeof extents));
}

/* Nothing is to be written. */
static int outputs_are_empty(const kiln_entry* entry, const kiln_halide_dimension* dims) {
  for (int a = 0; a < entry->argument_count; ++a) {
    if (entry->arguments[a].is_output && !kiln_is_empty(&entry->arguments[a], &dims[entry->arguments[a].first_dimension])) return 0;
  }
  return 1;
}

static int is_for(const kiln_variant* variant, DLDevice device) { return (variant->cuda != NULL) == (device.device_type == kDLCUDA); }

static int fail_device(const kiln_entry* entry, const kiln_call* call) {
  char device[32];
  return kiln_host_fail(KILN_ERR_DEVICE, "%s: the variant is not built for %s", entry->name, kiln_print_device(call->device, device, sizeof device));
}

/* 0 if the variant serves the call. Empty outputs need no region, so no kernel is asked about them. */
static int check_variant(const kiln_entry* entry, const kiln_variant* variant, const kiln_call* call) {
  int code = extents_fit(variant, call->extents) ? 0 : fail_extents(entry, call, "the variant is not built");
  if (code == 0) code = is_for(variant, call->device) ? 0 : fail_device(entry, call);
  if (code == 0) code = check_features(entry, variant);
  if (code == 0) code = kiln_check_alignment(entry, variant, call->addresses);
  if (code == 0) code = kiln_check_alias(entry, variant, call->dims, call->addresses);
  if (code != 0 || outputs_are_empty(entry, call->dims)) return code;
  return variant->cuda ? variant->cuda->functions->check(entry, variant->cuda, call->dims, call->device.device_id) : check_bounds(entry, variant, call->dims);
}

/* The first variant that serves the call, or a code. What the last one refused is told, since the last asks least; a missing feature only when
   no variant got further. */
static int choose_variant(const kiln_entry* entry, const kiln_call* call) {
  const kiln_variant* lacking = NULL;
  int told = 0;
  for (int v = 0; v < entry->variant_count; ++v) {
    const kiln_variant* variant = &entry->variants[v];
    if (!is_for(variant, call->device) || !extents_fit(variant, call->extents)) continue;
    if (variant->features & ~kiln_loaded_features()) {
      lacking = variant;
      continue;
    }
    told = check_variant(entry, variant, call);
    if (told == 0) return v;
  }
  if (told != 0) return told; /* its text is the last that was set */
  return lacking ? check_features(entry, lacking) : fail_extents(entry, call, "no variant is built");
}

static int apply_fallback(const kiln_entry* entry, const kiln_variant* variant, const kiln_call* call) {
  char extents[256], text[512];
  if (variant->tier != KILN_TIER_GENERIC || kiln_fallback() == KILN_FALLBACK_ALLOW) return 0;
  if (kiln_fallback() == KILN_FALLBACK_ERROR) return fail_extents(entry, call, "only the generic variant is built, and fallback is an error,");
  if (atomic_exchange_explicit(&entry->calls->has_warned, 1, memory_order_relaxed)) return 0;
  snprintf(text, sizeof text, "%s: the generic variant serves %s", entry->name, kiln_print_extents(entry, call->extents, extents, sizeof extents));
  kiln_warn(text);
  return 0;
}

static void fill_plan(const kiln_entry* entry, int variant, const kiln_call* call, kiln_plan* plan) {
  const int tier = entry->variants[variant].tier;
  const kiln_cuda_program* cuda = entry->variants[variant].cuda;
  memset(plan, 0, offsetof(kiln_plan, dims));
  plan->size = KILN_PLAN_BYTES;
  plan->tier = tier;
  plan->variant = variant;
  plan->load_number = kiln_load_number();
  plan->entry = entry;
  plan->counted = kiln_call_counter(entry, call->extents, tier);
  plan->is_empty = outputs_are_empty(entry, call->dims);
  memcpy(plan->dims, call->dims, dimension_bytes(entry));
  if (cuda == NULL || plan->is_empty) return;
  plan->device = call->device.device_id;
  plan->workspace_bytes = cuda->functions->workspace_bytes(entry, cuda, plan->dims);
}

/* What run takes for granted is there before there is a plan. */
static int finish_plan(const kiln_entry* entry, int variant, const kiln_call* call, kiln_plan* plan) {
  const kiln_cuda_program* cuda = entry->variants[variant].cuda;
  const int code = cuda == NULL || outputs_are_empty(entry, call->dims) ? 0 : cuda->functions->load(entry->name, cuda, call->device.device_id);
  if (code == 0) fill_plan(entry, variant, call, plan);
  return code;
}

static int begin_plan(const kiln_entry* entry, const DLTensor* const* tensors, const kiln_plan* plan, kiln_call* call) {
  if (plan == NULL) return kiln_host_fail(KILN_ERR_NULL_ARG, "%s: plan is NULL", entry->name);
  if (kiln_load_number() == 0) return kiln_host_fail(KILN_ERR_NOT_LOADED, "%s: the set is not loaded", entry->name);
  return kiln_read_call(entry, tensors, call);
}

int kiln_make_plan(const kiln_entry* entry, const DLTensor* const* tensors, kiln_plan* plan) {
  kiln_call call;
  const int code = begin_plan(entry, tensors, plan, &call);
  if (code != 0) return code;
  const int variant = choose_variant(entry, &call);
  if (variant < 0) return variant;
  const int refused = apply_fallback(entry, &entry->variants[variant], &call);
  return refused != 0 ? refused : finish_plan(entry, variant, &call, plan);
}

int kiln_make_plan_with(const kiln_entry* entry, int variant, const DLTensor* const* tensors, kiln_plan* plan) {
  kiln_call call;
  int code = begin_plan(entry, tensors, plan, &call);
  if (code == 0 && (variant < 0 || variant >= entry->variant_count)) {
    code = kiln_host_fail(KILN_ERR_NO_VARIANT, "%s: variant %d asked for, there are %d", entry->name, variant, entry->variant_count);
  }
  if (code == 0) code = check_variant(entry, &entry->variants[variant], &call);
  return code == 0 ? finish_plan(entry, variant, &call, plan) : code;
}

static int check_values(const kiln_entry* entry, const kiln_plan* plan, void* const* values) {
  const kiln_variant* variant = &entry->variants[plan->variant];
  for (int a = 0; a < entry->argument_count; ++a) {
    const kiln_argument* argument = &entry->arguments[a];
    if (values[a] == NULL && !kiln_is_empty(argument, &plan->dims[argument->first_dimension])) return kiln_host_fail(KILN_ERR_NULL_ARG, "%s: argument %s is NULL", entry->name, argument->name);
  }
  const int code = kiln_check_alignment(entry, variant, values);
  return code != 0 ? code : kiln_check_alias(entry, variant, plan->dims, values);
}

/* The kernel of a plan, on the caller's stack: Halide reads the dimensions and writes them only for a NULL host, which no buffer has here. */
static int call_kernel(const kiln_entry* entry, const kiln_plan* plan, void* const* values) {
  static _Alignas(64) uint64_t nothing; /* stands for the memory of an empty buffer */
  kiln_halide_buffer buffers[KILN_MAX_ARGUMENTS];
  void* arguments[KILN_MAX_ARGUMENTS];
  for (int a = 0; a < entry->argument_count; ++a) {
    const kiln_argument* argument = &entry->arguments[a];
    arguments[a] = values[a];
    if (argument->is_scalar) continue;
    kiln_halide_dimension* dims = (kiln_halide_dimension*)(uintptr_t)&plan->dims[argument->first_dimension];
    fill_buffer(argument, dims, values[a] ? values[a] : (void*)&nothing, &buffers[a]);
    arguments[a] = &buffers[a];
  }
  const int code = entry->variants[plan->variant].kernel(arguments);
  if (code == 0) return 0;
  return kiln_host_fail(KILN_ERR_KERNEL, "%s: the kernel returned %d: %s", entry->name, code, kiln_host_error_code() == code ? kiln_host_error_text() : "");
}

int kiln_run_plan(const kiln_entry* entry, const kiln_plan* plan, void* const* values, const kiln_cuda_call* cuda) {
  static const kiln_cuda_call nothing;
  if (plan == NULL) return kiln_host_fail(KILN_ERR_NULL_ARG, "%s: plan is NULL", entry->name);
  if (plan->entry != entry) return kiln_host_fail(KILN_ERR_STALE_PLAN, "%s: the plan was not made by this function", entry->name);
  if (plan->load_number != kiln_load_number()) {
    return kiln_host_fail(KILN_ERR_STALE_PLAN, "%s: the plan was made before the set was unloaded", entry->name);
  }
  const int code = check_values(entry, plan, values);
  if (code != 0) return code;
  atomic_fetch_add_explicit(&plan->counted->calls, 1, memory_order_relaxed);
  if (plan->is_empty) return 0;
  const kiln_cuda_program* program = entry->variants[plan->variant].cuda;
  if (program == NULL) return call_kernel(entry, plan, values);
  kiln_cuda_call call = cuda ? *cuda : nothing;
  call.launches_plainly = plan->launches_plainly != 0;
  return program->functions->run(entry, program, plan->dims, plan->device, values, &call);
}

/* Arguments as an application would have them: aligned, apart from each other; nobody reads or writes there. */
static void fill_dense(const kiln_entry* entry, const int64_t* extents, kiln_call* call) {
  enum { kApartLog2 = 40 };
  memset(call, 0, sizeof *call);
  for (int a = 0; a < entry->argument_count; ++a) call->addresses[a] = (void*)((uintptr_t)(a + 1) << kApartLog2);
  for (int s = 0; s < entry->symbol_count; ++s) {
    for (int i = 0; i < entry->symbols[s].axis_count; ++i) {
      const kiln_axis axis = entry->symbols[s].axes[i];
      call->dims[entry->arguments[axis.argument].first_dimension + axis.dimension].extent = (int32_t)extents[s];
    }
    call->extents[s] = extents[s];
  }
}

static void fill_strides(const kiln_entry* entry, kiln_call* call) {
  for (int a = 0; a < entry->argument_count; ++a) {
    int64_t stride = 1;
    for (int d = 0; d < entry->arguments[a].rank; ++d) {
      kiln_halide_dimension* dim = &call->dims[entry->arguments[a].first_dimension + d];
      dim->min = 0;
      dim->stride = stride > INT32_MAX ? INT32_MAX : (int32_t)stride;
      stride *= dim->extent > 0 ? dim->extent : 1;
      if (stride > INT32_MAX) stride = INT32_MAX;
    }
  }
}

static int is_named(const kiln_entry* entry, int argument, int dimension) {
  for (int s = 0; s < entry->symbol_count; ++s) {
    for (int i = 0; i < entry->symbols[s].axis_count; ++i) {
      if (entry->symbols[s].axes[i].argument == argument && entry->symbols[s].axes[i].dimension == dimension) return 1;
    }
  }
  return 0;
}

/* Axes that no symbol names get what the kernel's bounds query asks for: the halo of a stencil's input. */
static void ask_unnamed(const kiln_entry* entry, const kiln_variant* variant, kiln_call* call) {
  kiln_halide_dimension needed[KILN_MAX_DIMENSIONS];
  memcpy(needed, call->dims, dimension_bytes(entry));
  if (query_bounds(entry, variant, needed) != 0) return;
  for (int a = 0; a < entry->argument_count; ++a) {
    for (int d = 0; d < entry->arguments[a].rank; ++d) {
      const int at = entry->arguments[a].first_dimension + d;
      if (!is_named(entry, a, d)) call->dims[at].extent = needed[at].min + needed[at].extent;
    }
  }
  fill_strides(entry, call);
}

int kiln_supports(const kiln_set* set, const char* entry_name, const int64_t* extents, DLDevice device) {
  const kiln_entry* entry = kiln_find_entry(set, entry_name);
  if (entry == NULL) return kiln_host_fail(KILN_ERR_NO_VARIANT, "%s: there is no entry %s", set->name, entry_name ? entry_name : "NULL");
  if (extents == NULL) return kiln_host_fail(KILN_ERR_NULL_ARG, "%s: extents is NULL", entry->name);
  if (kiln_load_number() == 0) return kiln_host_fail(KILN_ERR_NOT_LOADED, "%s: the set is not loaded", entry->name);
  for (int s = 0; s < entry->symbol_count; ++s) {
    if (extents[s] >= 0 && extents[s] <= INT32_MAX) continue;
    return kiln_host_fail(KILN_ERR_RANGE, "%s: %s is %" PRId64 ", 0 to %d are possible", entry->name, entry->symbols[s].name, extents[s], INT32_MAX);
  }
  kiln_call call;
  fill_dense(entry, extents, &call);
  fill_strides(entry, &call);
  call.device = device;
  for (int v = 0; v < entry->variant_count; ++v) {
    if (entry->variants[v].cuda != NULL) continue; /* its arguments have no axis without a name */
    if (!extents_fit(&entry->variants[v], call.extents) || check_features(entry, &entry->variants[v]) != 0) continue;
    ask_unnamed(entry, &entry->variants[v], &call);
    break;
  }
  const int variant = choose_variant(entry, &call);
  return variant < 0 ? variant : entry->variants[variant].tier;
}
