/* A call on a GPU: what must hold, how much lies between kernels, and their launches, by the formulas of the launch record. */
#include "generators/runtime/set_cuda.h"

#include <inttypes.h>
#include <string.h>

#include "generators/runtime/set.h"

enum { kWorkspaceAlignment = 256 };

static int64_t value_of(const kiln_entry* entry, const kiln_length* length, const kiln_halide_dimension* dims) {
  if (length->argument < 0) return length->constant;
  return dims[entry->arguments[length->argument].first_dimension + length->dimension].extent;
}

/* Saturates: a product that does not fit is refused before anything is launched. */
static int64_t product_of(const kiln_entry* entry, const kiln_length* lengths, int count, const kiln_halide_dimension* dims) {
  int64_t product = 1;
  for (int i = 0; i < count; ++i) {
    if (__builtin_mul_overflow(product, value_of(entry, &lengths[i], dims), &product)) return INT64_MAX;
  }
  return product;
}

static int64_t blocks_of(const kiln_entry* entry, const kiln_cuda_kernel* kernel, const kiln_halide_dimension* dims) {
  int64_t blocks = kernel->cluster;
  for (int i = 0; i < kernel->grid_count; ++i) {
    const kiln_cuda_grid* factor = &kernel->grid[i];
    const int64_t length = product_of(entry, factor->lengths, factor->count, dims);
    const int64_t along = length / factor->per_block + (length % factor->per_block != 0);
    if (__builtin_mul_overflow(blocks, along, &blocks)) return INT64_MAX;
  }
  return blocks;
}

static int check_guards(const kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims) {
  for (int i = 0; i < program->guard_count; ++i) {
    const kiln_cuda_guard* guard = &program->guards[i];
    const int64_t length = value_of(entry, &guard->length, dims);
    const kiln_argument* argument = guard->length.argument < 0 ? NULL : &entry->arguments[guard->length.argument];
    const char* name = argument ? argument->name : "a constant";
    const int dimension = argument ? argument->rank - 1 - guard->length.dimension : 0;
    if (guard->exactly > 0 && length != guard->exactly) {
      return kiln_host_fail(KILN_ERR_NO_VARIANT, "%s: dimension %d of %s has %" PRId64 " elements, the kernel is for %" PRId64, entry->name, dimension, name, length,
                            guard->exactly);
    }
    if (guard->at_most > 0 && length > guard->at_most) {
      return kiln_host_fail(KILN_ERR_NO_VARIANT, "%s: dimension %d of %s has %" PRId64 " elements, the kernel's threads cover %" PRId64, entry->name, dimension, name,
                            length, guard->at_most);
    }
    if (length % guard->multiple != 0) {
      return kiln_host_fail(KILN_ERR_NO_VARIANT, "%s: dimension %d of %s has %" PRId64 " elements, a multiple of %" PRId64 " is needed", entry->name, dimension, name,
                            length, guard->multiple);
    }
  }
  return 0;
}

/* Kernels compute addresses from extents alone. */
static int check_dense(const kiln_entry* entry, const kiln_halide_dimension* dims) {
  for (int a = 0; a < entry->argument_count; ++a) {
    const kiln_argument* argument = &entry->arguments[a];
    int64_t dense = 1;
    for (int d = 0; d < argument->rank; ++d) {
      const kiln_halide_dimension* dim = &dims[argument->first_dimension + d];
      if (dim->extent > 1 && dim->stride != dense) {
        return kiln_host_fail(KILN_ERR_STRIDE, "%s: dimension %d of %s has stride %d, %" PRId64 " is needed: kernels for GPUs take dense arguments", entry->name,
                              argument->rank - 1 - d, argument->name, dim->stride, dense);
      }
      dense *= dim->extent > 0 ? dim->extent : 1;
    }
  }
  return 0;
}

/* Counts are passed in 32 bits, and a grid has fewer than 2^31 blocks. */
static int check_range(const kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims) {
  for (int k = 0; k < program->kernel_count; ++k) {
    const kiln_cuda_kernel* kernel = &program->kernels[k];
    const int64_t blocks = blocks_of(entry, kernel, dims);
    if (blocks > INT32_MAX) {
      return kiln_host_fail(KILN_ERR_RANGE, "%s: %s would have %" PRId64 " blocks, at most %d are possible", entry->name, kernel->name, blocks, INT32_MAX);
    }
    for (int p = 0; p < kernel->parameter_count; ++p) {
      const kiln_cuda_parameter* parameter = &kernel->parameters[p];
      if (parameter->kind != KILN_PARAMETER_COUNT32) continue;
      const int64_t count = product_of(entry, parameter->lengths, parameter->count, dims);
      if (count > INT32_MAX) {
        return kiln_host_fail(KILN_ERR_RANGE, "%s: %s counts to %" PRId64 ", at most %d are possible", entry->name, kernel->name, count, INT32_MAX);
      }
    }
  }
  return 0;
}

static int check_image(const kiln_entry* entry, const kiln_cuda_program* program, int device) {
  int major, minor;
  const int code = kiln_cuda_capability(entry->name, device, &major, &minor);
  if (code != 0) return code;
  const int fits = major == program->major && (program->is_of_one_capability ? minor == program->minor : minor >= program->minor);
  if (fits) return 0;
  return kiln_host_fail(KILN_ERR_NO_IMAGE, "%s: cuda:%d has compute capability %d.%d, the kernel is for %s", entry->name, device, major, minor, program->arch);
}

static int check(const kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims, int device) {
  int code = check_image(entry, program, device);
  if (code == 0) code = check_dense(entry, dims);
  if (code == 0) code = check_guards(entry, program, dims);
  return code == 0 ? check_range(entry, program, dims) : code;
}

static uint64_t between_bytes(const kiln_entry* entry, const kiln_cuda_between* between, const kiln_halide_dimension* dims) {
  const uint64_t bytes = (uint64_t)product_of(entry, between->lengths, between->count, dims) * (uint64_t)between->element_bytes;
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

static uint64_t workspace_bytes(const kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims) {
  uint64_t bytes = 0;
  for (int b = 0; b < program->between_count; ++b) bytes += between_bytes(entry, &program->betweens[b], dims);
  return bytes;
}

/* Where each buffer between kernels begins in the workspace. */
static int place_betweens(const kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims, const kiln_cuda_call* call, uint64_t* places) {
  if (program->between_count == 0) return 0;
  const uint64_t needed = workspace_bytes(entry, program, dims);
  if (call->workspace == NULL && needed > 0) return kiln_host_fail(KILN_ERR_WORKSPACE, "%s: workspace is NULL, %" PRIu64 " bytes are needed", entry->name, needed);
  if (call->workspace_bytes < needed) {
    return kiln_host_fail(KILN_ERR_WORKSPACE, "%s: the workspace has %zu bytes, %" PRIu64 " are needed", entry->name, call->workspace_bytes, needed);
  }
  if ((uintptr_t)call->workspace % kWorkspaceAlignment != 0) {
    return kiln_host_fail(KILN_ERR_ALIGN, "%s: the workspace is %d bytes past a multiple of %d", entry->name, (int)((uintptr_t)call->workspace % kWorkspaceAlignment),
                          kWorkspaceAlignment);
  }
  uint64_t at = (uint64_t)(uintptr_t)call->workspace;
  for (int b = 0; b < program->between_count; ++b) {
    places[b] = at;
    at += between_bytes(entry, &program->betweens[b], dims);
  }
  return 0;
}

/* What a kernel's parameters are read from, and pointers to it. */
typedef struct {
  uint64_t words[KILN_CUDA_PARAMETERS];
  void* pointers[KILN_CUDA_PARAMETERS];
  _Alignas(64) unsigned char maps[KILN_CUDA_MAPS][128];
} parameter_values;

static int encode_map(const kiln_entry* entry, const kiln_cuda_parameter* parameter, const kiln_halide_dimension* dims, void* const* values, const uint64_t* places,
                      void* encoded) {
  const uint64_t address = parameter->map->is_between ? places[parameter->place] : (uint64_t)(uintptr_t)values[parameter->place];
  const uint64_t extents[2] = {(uint64_t)value_of(entry, &parameter->lengths[0], dims), (uint64_t)value_of(entry, &parameter->lengths[1], dims)};
  return kiln_cuda_encode(entry->name, parameter->map, address, extents, encoded);
}

static int fill_parameters(const kiln_entry* entry, const kiln_cuda_kernel* kernel, const kiln_halide_dimension* dims, void* const* values, const uint64_t* places,
                           parameter_values* filled) {
  int maps = 0;
  uint64_t* const words = filled->words;
  void** const pointers = filled->pointers;
  for (int p = 0; p < kernel->parameter_count; ++p) {
    const kiln_cuda_parameter* parameter = &kernel->parameters[p];
    pointers[p] = &words[p];
    switch (parameter->kind) {
      case KILN_PARAMETER_BUFFER: words[p] = (uint64_t)(uintptr_t)values[parameter->place]; break;
      case KILN_PARAMETER_BETWEEN: words[p] = places[parameter->place]; break;
      case KILN_PARAMETER_SCALAR: pointers[p] = values[parameter->place]; break;
      case KILN_PARAMETER_COUNT32: {
        const int32_t count = (int32_t)product_of(entry, parameter->lengths, parameter->count, dims);
        memcpy(&words[p], &count, sizeof count);
        break;
      }
      case KILN_PARAMETER_MAP: {
        pointers[p] = filled->maps[maps++];
        const int code = encode_map(entry, parameter, dims, values, places, pointers[p]);
        if (code != 0) return code;
        break;
      }
      default: words[p] = (uint64_t)product_of(entry, parameter->lengths, parameter->count, dims);
    }
  }
  return 0;
}

/* A kernel that goes on until all tiles are done has no more blocks than run at once. */
static unsigned grid_of(const kiln_entry* entry, const kiln_cuda_kernel* kernel, const kiln_halide_dimension* dims, int device) {
  const int64_t blocks = blocks_of(entry, kernel, dims);
  if (kernel->blocks_per_sm == 0) return (unsigned)blocks;
  const int64_t most = (int64_t)kiln_cuda_sms(device) * kernel->blocks_per_sm;
  return (unsigned)(blocks < most ? blocks : most);
}

static int run(const kiln_entry* entry, const kiln_cuda_program* program, const kiln_halide_dimension* dims, int device, void* const* values,
               const kiln_cuda_call* call) {
  uint64_t places[KILN_CUDA_BETWEENS];
  parameter_values filled;
  int entered = 0;
  int code = place_betweens(entry, program, dims, call, places);
  if (code == 0) code = kiln_cuda_enter(entry->name, device, &entered);
  for (int k = 0; k < program->kernel_count && code == 0; ++k) {
    const kiln_cuda_kernel* kernel = &program->kernels[k];
    const kiln_cuda_launch launch = {.grid = grid_of(entry, kernel, dims, device), .threads = (unsigned)kernel->threads, .shared_bytes = (unsigned)kernel->shared_bytes,
                                     .is_dependent = kernel->is_dependent && !call->launches_plainly, .stream = call->stream};
    code = fill_parameters(entry, kernel, dims, values, places, &filled);
    if (code == 0) code = kiln_cuda_start(entry->name, program, device, k, &launch, filled.pointers);
  }
  kiln_cuda_leave(entered);
  return code;
}

const kiln_cuda_functions kiln_cuda = {.check = check, .workspace_bytes = workspace_bytes, .load = kiln_cuda_load, .run = run, .unload = kiln_cuda_unload};

int kiln_cuda_load_device(const kiln_set* set, int device) {
  if (kiln_load_number() == 0) return kiln_host_fail(KILN_ERR_NOT_LOADED, "%s: the set is not loaded", set->name);
  int loaded = 0, code = 0; /* the device has images for some entries only: those are loaded */
  for (int e = 0; e < set->entry_count; ++e) {
    for (int v = 0; v < set->entries[e].variant_count; ++v) {
      const kiln_cuda_program* program = set->entries[e].variants[v].cuda;
      if (program == NULL) continue;
      const int unfit = check_image(&set->entries[e], program, device);
      if (unfit != 0) {
        code = unfit;
        continue;
      }
      const int failed = kiln_cuda_load(set->name, program, device);
      if (failed != 0) return failed;
      ++loaded;
    }
  }
  return loaded > 0 ? 0 : code; /* what the last one refused is told */
}
