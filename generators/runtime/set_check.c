/* Facts about one call: every view is what the entry's table says, symbols agree across arguments, nothing overlaps an output. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "generators/runtime/set.h"

enum { kMostBytes = INT32_MAX }; /* Halide's objects compute offsets in 32 bits; kernels for GPUs in 64 */

/* DLTensor counts dimensions from the outermost. */
static int dl_dimension(const kiln_argument* argument, int dimension) { return argument->rank - 1 - dimension; }

static const char* type_prefix(int code, int bits) {
  if (code == KILN_TYPE_UINT && bits == 1) return "bool";
  return code == KILN_TYPE_INT ? "i" : code == KILN_TYPE_UINT ? "u" : code == KILN_TYPE_BFLOAT ? "bf" : code == KILN_TYPE_FLOAT ? "f" : "type";
}

static int fail_type(const kiln_entry* entry, const kiln_argument* argument, DLDataType given) {
  const int is_bool = given.code == 6;
  const char* wanted_name = type_prefix(argument->type_code, argument->type_bits);
  const char* given_name = is_bool ? "bool" : type_prefix(given.code, given.bits);
  if (given.lanes != 1) {
    return kiln_host_fail(KILN_ERR_DTYPE, "%s: argument %s has elements of %d lanes, 1 is needed", entry->name, argument->name, given.lanes);
  }
  if (is_bool) return kiln_host_fail(KILN_ERR_DTYPE, "%s: argument %s has type bool, %s%d is needed", entry->name, argument->name, wanted_name, argument->type_bits);
  if (argument->type_bits == 1) {
    return kiln_host_fail(KILN_ERR_DTYPE, "%s: argument %s has type %s%d, bool is needed", entry->name, argument->name, given_name, given.bits);
  }
  return kiln_host_fail(KILN_ERR_DTYPE, "%s: argument %s has type %s%d, %s%d is needed", entry->name, argument->name, given_name, given.bits, wanted_name,
                        argument->type_bits);
}

/* DLPack's codes are Halide's, and bool is a class of its own with 8 bits. */
static int type_matches(const kiln_argument* argument, DLDataType given) {
  if (given.lanes != 1) return 0;
  if (argument->type_code == KILN_TYPE_UINT && argument->type_bits == 1) return given.code == 6 && given.bits == 8;
  return given.code == argument->type_code && given.bits == argument->type_bits;
}

static int element_bytes(const kiln_argument* argument) { return (argument->type_bits + 7) / 8; }

const char* kiln_print_device(DLDevice device, char* text, size_t bytes) {
  if (device.device_type == kDLCPU) snprintf(text, bytes, "cpu");
  else if (device.device_type == kDLCUDA) snprintf(text, bytes, "cuda:%d", (int)device.device_id);
  else snprintf(text, bytes, "a device of DLPack type %d", (int)device.device_type);
  return text;
}

/* Whether the entry has kernels for devices of this kind. */
static int serves(const kiln_entry* entry, DLDeviceType type) {
  for (int v = 0; v < entry->variant_count; ++v) {
    if ((entry->variants[v].cuda != NULL ? kDLCUDA : kDLCPU) == type) return 1;
  }
  return 0;
}

static int check_device(const kiln_entry* entry, const kiln_argument* argument, DLDevice device) {
  char given[48];
  if (serves(entry, device.device_type)) return 0;
  const char* needed = !serves(entry, kDLCUDA) ? "cpu" : !serves(entry, kDLCPU) ? "a CUDA device" : "cpu or a CUDA device";
  return kiln_host_fail(KILN_ERR_DEVICE, "%s: argument %s is on %s, %s is needed", entry->name, argument->name, kiln_print_device(device, given, sizeof given), needed);
}

static int check_kind(const kiln_entry* entry, const kiln_argument* argument, const DLTensor* view) {
  if (view == NULL) return kiln_host_fail(KILN_ERR_NULL_ARG, "%s: argument %s is NULL", entry->name, argument->name);
  if (view->ndim != argument->rank) {
    return kiln_host_fail(KILN_ERR_RANK, "%s: argument %s has %d dimensions, %d are needed", entry->name, argument->name, view->ndim, argument->rank);
  }
  if (!type_matches(argument, view->dtype)) return fail_type(entry, argument, view->dtype);
  const int code = check_device(entry, argument, view->device);
  if (code != 0) return code;
  if (view->ndim > 0 && view->shape == NULL) return kiln_host_fail(KILN_ERR_NULL_ARG, "%s: argument %s has no shape", entry->name, argument->name);
  return 0;
}

/* One dimension into Halide's terms. `dense` is the stride it has when nothing else is said. */
static int read_dimension(const kiln_entry* entry, const kiln_argument* argument, const DLTensor* view, int dimension, int64_t dense,
                          kiln_halide_dimension* out) {
  const int d = dl_dimension(argument, dimension);
  const int64_t extent = view->shape[d], stride = view->strides ? view->strides[d] : dense;
  if (extent < 0) return kiln_host_fail(KILN_ERR_SHAPE, "%s: dimension %d of %s has %" PRId64 " elements, at least 0 are needed", entry->name, d, argument->name, extent);
  if (extent > INT32_MAX || stride > INT32_MAX || stride < -(int64_t)INT32_MAX) {
    return kiln_host_fail(KILN_ERR_RANGE, "%s: dimension %d of %s has extent %" PRId64 " and stride %" PRId64 ", at most %d are possible", entry->name, d,
                          argument->name, extent, stride, INT32_MAX);
  }
  if (dimension == argument->unit_dimension && stride != 1 && extent > 1) {
    return kiln_host_fail(KILN_ERR_STRIDE, "%s: dimension %d of %s has stride %" PRId64 ", 1 is needed", entry->name, d, argument->name, stride);
  }
  *out = (kiln_halide_dimension){.min = 0, .extent = (int32_t)extent, .stride = dimension == argument->unit_dimension ? 1 : (int32_t)stride, .flags = 0};
  return 0;
}

/* The lowest and one past the highest byte of a view, from its first element; an empty view spans nothing. */
static void byte_span(const kiln_argument* argument, const kiln_halide_dimension* dims, int64_t* low, int64_t* high) {
  int64_t first = 0, last = 0;
  *low = *high = 0;
  for (int d = 0; d < argument->rank; ++d) {
    if (dims[d].extent == 0) return;
    const int64_t reach = (int64_t)dims[d].stride * (dims[d].extent - 1);
    if (reach < 0) first += reach; else last += reach;
  }
  *low = first * element_bytes(argument);
  *high = (last + 1) * element_bytes(argument);
}

static int check_span(const kiln_entry* entry, const kiln_argument* argument, const kiln_halide_dimension* dims) {
  int64_t low, high;
  byte_span(argument, dims, &low, &high);
  if (high - low <= kMostBytes) return 0;
  return kiln_host_fail(KILN_ERR_RANGE, "%s: argument %s spans %" PRId64 " bytes, at most %d are possible", entry->name, argument->name, high - low, kMostBytes);
}

/* An output's elements stand apart: walking its dimensions by growing stride, each steps over all that the smaller ones reach. */
static int check_apart(const kiln_entry* entry, const kiln_argument* argument, const kiln_halide_dimension* dims) {
  int64_t reach = 0;
  uint32_t done = 0;
  for (int n = 0; n < argument->rank; ++n) {
    int next = -1;
    int64_t least = INT64_MAX;
    for (int d = 0; d < argument->rank; ++d) {
      const int64_t stride = dims[d].stride < 0 ? -(int64_t)dims[d].stride : dims[d].stride;
      if (done >> d & 1 || stride >= least) continue;
      least = stride;
      next = d;
    }
    done |= 1u << next;
    if (dims[next].extent == 0) return 0;
    if (dims[next].extent > 1 && least <= reach) {
      return kiln_host_fail(KILN_ERR_STRIDE, "%s: dimension %d of output %s has stride %d, at least %" PRId64 " is needed to keep its elements apart", entry->name,
                            dl_dimension(argument, next), argument->name, dims[next].stride, reach + 1);
    }
    reach += least * (dims[next].extent - 1);
  }
  return 0;
}

int kiln_is_empty(const kiln_argument* argument, const kiln_halide_dimension* dims) {
  for (int d = 0; d < argument->rank; ++d) {
    if (dims[d].extent == 0) return 1;
  }
  return 0;
}

static int read_address(const kiln_entry* entry, const kiln_argument* argument, const DLTensor* view, const kiln_halide_dimension* dims, void** address) {
  const uint64_t size = (uint64_t)element_bytes(argument);
  if (view->byte_offset % size != 0) {
    return kiln_host_fail(KILN_ERR_BYTE_OFFSET, "%s: byte_offset of %s is %" PRIu64 ", a multiple of its element size %" PRIu64 " is needed", entry->name,
                          argument->name, view->byte_offset, size);
  }
  if (view->data == NULL && !kiln_is_empty(argument, dims)) {
    return kiln_host_fail(KILN_ERR_NULL_ARG, "%s: argument %s has no memory: data is NULL", entry->name, argument->name);
  }
  *address = view->data ? (char*)view->data + view->byte_offset : NULL;
  return 0;
}

static int read_view(const kiln_entry* entry, const kiln_argument* argument, const DLTensor* view, kiln_halide_dimension* dims, void** address) {
  int code = check_kind(entry, argument, view);
  int64_t dense = 1;
  for (int d = 0; d < argument->rank && code == 0; ++d) {
    code = read_dimension(entry, argument, view, d, dense, &dims[d]);
    if (code == 0 && dense <= INT32_MAX) dense *= dims[d].extent;
  }
  if (code == 0 && view->device.device_type == kDLCPU) code = check_span(entry, argument, dims);
  if (code == 0 && argument->is_output) code = check_apart(entry, argument, dims);
  return code != 0 ? code : read_address(entry, argument, view, dims, address);
}

/* All axes of a symbol have one extent. */
static int read_symbols(const kiln_entry* entry, kiln_call* call) {
  for (int s = 0; s < entry->symbol_count; ++s) {
    const kiln_symbol* symbol = &entry->symbols[s];
    const kiln_axis first = symbol->axes[0];
    const kiln_argument* first_argument = &entry->arguments[first.argument];
    const int32_t extent = call->dims[first_argument->first_dimension + first.dimension].extent;
    for (int a = 1; a < symbol->axis_count; ++a) {
      const kiln_axis axis = symbol->axes[a];
      const kiln_argument* argument = &entry->arguments[axis.argument];
      const int32_t other = call->dims[argument->first_dimension + axis.dimension].extent;
      if (other == extent) continue;
      return kiln_host_fail(KILN_ERR_SHAPE, "%s: %s is %d in dimension %d of %s and %d in dimension %d of %s", entry->name, symbol->name, extent,
                            dl_dimension(first_argument, first.dimension), first_argument->name, other, dl_dimension(argument, axis.dimension),
                            argument->name);
    }
    call->extents[s] = extent;
  }
  return 0;
}

/* Buffers are on one device, the first one's. */
static int read_device(const kiln_entry* entry, int argument, DLDevice device, int* first, kiln_call* call) {
  char is[48], was[48];
  if (*first < 0) {
    *first = argument;
    call->device = device;
  }
  if (device.device_type == call->device.device_type && (device.device_type == kDLCPU || device.device_id == call->device.device_id)) return 0;
  return kiln_host_fail(KILN_ERR_DEVICE_MIX, "%s: argument %s is on %s and argument %s on %s", entry->name, entry->arguments[*first].name,
                        kiln_print_device(call->device, was, sizeof was), entry->arguments[argument].name, kiln_print_device(device, is, sizeof is));
}

int kiln_read_call(const kiln_entry* entry, const DLTensor* const* tensors, kiln_call* call) {
  int first = -1;
  call->device = (DLDevice){.device_type = kDLCPU, .device_id = 0};
  for (int a = 0; a < entry->argument_count; ++a) {
    const kiln_argument* argument = &entry->arguments[a];
    call->addresses[a] = NULL;
    if (argument->is_scalar) continue;
    int code = read_view(entry, argument, tensors[a], &call->dims[argument->first_dimension], &call->addresses[a]);
    if (code == 0) code = read_device(entry, a, tensors[a]->device, &first, call);
    if (code != 0) return code;
  }
  return read_symbols(entry, call);
}

/* One view, not two that happen to overlap: same address, same shape, same strides, same element size. */
static int same_view(const kiln_argument* a, const kiln_halide_dimension* a_dims, const void* a_address, const kiln_argument* b,
                     const kiln_halide_dimension* b_dims, const void* b_address) {
  if (a_address != b_address || a->rank != b->rank || a->type_bits != b->type_bits) return 0;
  for (int d = 0; d < a->rank; ++d) {
    if (a_dims[d].extent != b_dims[d].extent || (a_dims[d].extent > 1 && a_dims[d].stride != b_dims[d].stride)) return 0;
  }
  return 1;
}

static int overlap(const kiln_argument* a, const kiln_halide_dimension* a_dims, const char* a_address, const kiln_argument* b,
                   const kiln_halide_dimension* b_dims, const char* b_address) {
  int64_t a_low, a_high, b_low, b_high;
  byte_span(a, a_dims, &a_low, &a_high);
  byte_span(b, b_dims, &b_low, &b_high);
  if (a_low == a_high || b_low == b_high) return 0;
  return (uintptr_t)a_address + (uint64_t)a_low < (uintptr_t)b_address + (uint64_t)b_high && (uintptr_t)b_address + (uint64_t)b_low < (uintptr_t)a_address + (uint64_t)a_high;
}

int kiln_check_alias(const kiln_entry* entry, const kiln_variant* variant, const kiln_halide_dimension* dims, void* const* addresses) {
  for (int o = 0; o < entry->argument_count; ++o) {
    const kiln_argument* output = &entry->arguments[o];
    if (!output->is_output) continue;
    for (int a = 0; a < entry->argument_count; ++a) {
      const kiln_argument* other = &entry->arguments[a];
      if (a == o || other->is_scalar || (other->is_output && a < o)) continue;
      const kiln_halide_dimension *output_dims = &dims[output->first_dimension], *other_dims = &dims[other->first_dimension];
      if (!overlap(output, output_dims, addresses[o], other, other_dims, addresses[a])) continue;
      if (variant->is_pointwise && !other->is_output && same_view(output, output_dims, addresses[o], other, other_dims, addresses[a])) continue;
      return kiln_host_fail(KILN_ERR_ALIAS, "%s: output %s overlaps argument %s", entry->name, output->name, other->name);
    }
  }
  return 0;
}

int kiln_check_alignment(const kiln_entry* entry, const kiln_variant* variant, void* const* addresses) {
  for (int a = 0; a < entry->argument_count; ++a) {
    if (entry->arguments[a].is_scalar) continue;
    const int wanted = variant->alignment_bytes[a];
    const int past = (int)((uintptr_t)addresses[a] % (uintptr_t)wanted);
    if (past == 0) continue;
    return kiln_host_fail(KILN_ERR_ALIGN, "%s: the address of %s is %d bytes past a multiple of %d", entry->name, entry->arguments[a].name, past, wanted);
  }
  return 0;
}
