/* The CUDA driver, found by name when the first GPU is asked for, and what a set holds of each device: its primary context and the loaded programs.
   Declarations are of our own; types, numbers and structures are those of cuda.h 13.0, and drivers keep old ones working. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "generators/runtime/set.h"
#include "generators/runtime/set_cuda.h"

typedef int status; /* CUresult */

enum { kClusterDimension = 4, kProgrammaticSerialization = 6 };             /* CUlaunchAttributeID */
enum { kMaxDynamicSharedBytes = 8 };                                          /* CUfunction_attribute */
enum { kMultiprocessors = 16, kCapabilityMajor = 75, kCapabilityMinor = 76 }; /* CUdevice_attribute */
enum { kSharedWithoutAsking = 48 << 10 };                                     /* dynamic, of a block */
enum { kFirstCaptureStatus = 900, kLastCaptureStatus = 909 };                 /* CUDA_ERROR_STREAM_CAPTURE_… and CUDA_ERROR_CAPTURED_EVENT */

typedef struct {
  int kind;
  char padding[4];
  union {
    uint64_t words[8];
    int is_allowed;
  } value;
} launch_attribute;

typedef struct {
  unsigned grid[3], threads[3], shared_bytes;
  void* stream;
  launch_attribute* attributes;
  unsigned attribute_count;
} launch_shape;
_Static_assert(sizeof(launch_attribute) == 72 && sizeof(launch_shape) == 56 && offsetof(launch_shape, stream) == 32, "as cuda.h has them");

static struct {
  status (*init)(unsigned flags);
  status (*error_name)(status, const char**);
  status (*error_text)(status, const char**);
  status (*device_count)(int*);
  status (*device)(int* device, int ordinal);
  status (*device_attribute)(int* value, int attribute, int device);
  status (*retain)(void** context, int device);
  status (*release)(int device);
  status (*current)(void** context);
  status (*current_device)(int* device);
  status (*push)(void* context);
  status (*pop)(void** context);
  status (*load)(void** library, const void* code, int* options, void** values, unsigned count, int* library_options, void** library_values, unsigned library_count);
  status (*unload)(void* library);
  status (*kernel)(void** kernel, void* library, const char* name);
  status (*function)(void** function, void* kernel);
  status (*set_attribute)(void* function, int attribute, int value);
  status (*launch)(const launch_shape*, void* function, void** arguments, void** extra);
  status (*encode_tiled)(void* map, int type, unsigned rank, void* base, const uint64_t* extents, const uint64_t* pitches_bytes, const uint32_t* box, const uint32_t* steps,
                         int interleave, int swizzle, int l2_promotion, int fill);
} api;

static const struct {
  const char* name;
  void** place;
} functions[] = {
    {"cuInit", (void**)&api.init},
    {"cuGetErrorName", (void**)&api.error_name},
    {"cuGetErrorString", (void**)&api.error_text},
    {"cuDeviceGetCount", (void**)&api.device_count},
    {"cuDeviceGet", (void**)&api.device},
    {"cuDeviceGetAttribute", (void**)&api.device_attribute},
    {"cuDevicePrimaryCtxRetain", (void**)&api.retain},
    {"cuDevicePrimaryCtxRelease_v2", (void**)&api.release},
    {"cuCtxGetCurrent", (void**)&api.current},
    {"cuCtxGetDevice", (void**)&api.current_device},
    {"cuCtxPushCurrent_v2", (void**)&api.push},
    {"cuCtxPopCurrent_v2", (void**)&api.pop},
    {"cuLibraryLoadData", (void**)&api.load},
    {"cuLibraryUnload", (void**)&api.unload},
    {"cuLibraryGetKernel", (void**)&api.kernel},
    {"cuKernelGetFunction", (void**)&api.function},
    {"cuFuncSetAttribute", (void**)&api.set_attribute},
    {"cuLaunchKernelEx", (void**)&api.launch},
    {"cuTensorMapEncodeTiled", (void**)&api.encode_tiled},
};

typedef struct {
  int device; /* CUdevice */
  int major, minor, sms;
  void* context; /* primary; NULL until something is loaded */
} open_device;

struct kiln_cuda_loaded {
  void* library;
  void* functions[KILN_CUDA_KERNELS];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all that is loaded, not what runs */
static int is_ready;                                      /* the driver is found and started; written under the mutex */
static _Atomic(open_device*) devices[KILN_CUDA_DEVICES];

static int fail_driver(const char* who, const char* call, status code) {
  const char *name = NULL, *text = NULL;
  api.error_name(code, &name);
  api.error_text(code, &text);
  const int is_capture = code >= kFirstCaptureStatus && code <= kLastCaptureStatus;
  return kiln_host_fail(is_capture ? KILN_ERR_CAPTURE : KILN_ERR_DRIVER, "%s: %s: %s (%s, %d)%s", who, call, text ? text : "unknown error", name ? name : "?", code,
                        is_capture ? "; load_device before the capture begins makes the kernels ready" : "");
}

/* Under the mutex. */
static int find_driver(const char* who) {
  if (is_ready) return 0;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return kiln_host_fail(KILN_ERR_DRIVER, "%s: there is no CUDA driver: %s", who, dlerror());
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    *functions[i].place = dlsym(library, functions[i].name);
    if (*functions[i].place == NULL) return kiln_host_fail(KILN_ERR_DRIVER, "%s: the CUDA driver is older than 12.0: it has no %s", who, functions[i].name);
  }
  const status code = api.init(0);
  if (code != 0) return fail_driver(who, "cuInit", code);
  is_ready = 1; /* the library stays: a driver cannot be unloaded */
  return 0;
}

/* Under the mutex. */
static int open_new(const char* who, int ordinal, open_device** opened) {
  int code = find_driver(who), count = 0;
  if (code != 0) return code;
  status told = api.device_count(&count);
  if (told != 0) return fail_driver(who, "cuDeviceGetCount", told);
  if (ordinal < 0 || ordinal >= count || ordinal >= KILN_CUDA_DEVICES) {
    return kiln_host_fail(KILN_ERR_DEVICE, "%s: there is no cuda:%d; this process sees %d", who, ordinal, count);
  }
  open_device facts = {0};
  told = api.device(&facts.device, ordinal);
  if (told == 0) told = api.device_attribute(&facts.major, kCapabilityMajor, facts.device);
  if (told == 0) told = api.device_attribute(&facts.minor, kCapabilityMinor, facts.device);
  if (told == 0) told = api.device_attribute(&facts.sms, kMultiprocessors, facts.device);
  if (told != 0) return fail_driver(who, "cuDeviceGetAttribute", told);
  *opened = malloc(sizeof **opened);
  if (*opened == NULL) return kiln_host_fail(KILN_ERR_DRIVER, "%s: no memory for cuda:%d", who, ordinal);
  **opened = facts;
  atomic_store_explicit(&devices[ordinal], *opened, memory_order_release);
  return 0;
}

static open_device* find_open(int ordinal) {
  return ordinal < 0 || ordinal >= KILN_CUDA_DEVICES ? NULL : atomic_load_explicit(&devices[ordinal], memory_order_acquire);
}

static int open_one(const char* who, int ordinal, open_device** opened) {
  *opened = find_open(ordinal);
  if (*opened != NULL) return 0;
  pthread_mutex_lock(&mutex);
  *opened = find_open(ordinal);
  const int code = *opened != NULL ? 0 : open_new(who, ordinal, opened);
  pthread_mutex_unlock(&mutex);
  return code;
}

int kiln_cuda_capability(const char* who, int device, int* major, int* minor) {
  open_device* opened;
  const int code = open_one(who, device, &opened);
  if (code != 0) return code;
  *major = opened->major;
  *minor = opened->minor;
  return 0;
}

int kiln_cuda_sms(int device) { return find_open(device)->sms; }

int kiln_cuda_encode(const char* who, const kiln_cuda_map* map, uint64_t address, const uint64_t extents[2], void* encoded) {
  const uint64_t pitch = extents[0] * (uint64_t)map->element_bytes;
  const uint32_t steps[2] = {1, 1};
  const status code = api.encode_tiled(encoded, map->type, 2, (void*)(uintptr_t)address, extents, &pitch, map->box, steps, 0, map->swizzle, map->l2_promotion, 0);
  return code == 0 ? 0 : fail_driver(who, "cuTensorMapEncodeTiled", code);
}

int kiln_cuda_enter(const char* who, int device, int* entered) {
  const open_device* opened = find_open(device);
  void* context = NULL;
  int of = -1;
  *entered = 0;
  if (api.current(&context) == 0 && context != NULL && api.current_device(&of) == 0 && of == opened->device) return 0;
  const status code = api.push(opened->context);
  if (code != 0) return fail_driver(who, "cuCtxPushCurrent", code);
  *entered = 1;
  return 0;
}

void kiln_cuda_leave(int entered) {
  void* context;
  if (entered) api.pop(&context);
}

static int fill_functions(const char* who, const kiln_cuda_program* program, kiln_cuda_loaded* loaded) {
  status code = api.load(&loaded->library, program->cubin, NULL, NULL, 0, NULL, NULL, 0);
  if (code != 0) return fail_driver(who, "cuLibraryLoadData", code);
  for (int k = 0; k < program->kernel_count; ++k) {
    void* kernel;
    code = api.kernel(&kernel, loaded->library, program->kernels[k].name);
    if (code != 0) return fail_driver(who, "cuLibraryGetKernel", code);
    code = api.function(&loaded->functions[k], kernel); /* loads it into the context: nothing is left for the first launch */
    if (code != 0) return fail_driver(who, "cuKernelGetFunction", code);
    if (program->kernels[k].shared_bytes <= kSharedWithoutAsking) continue;
    code = api.set_attribute(loaded->functions[k], kMaxDynamicSharedBytes, program->kernels[k].shared_bytes);
    if (code != 0) return fail_driver(who, "cuFuncSetAttribute", code);
  }
  return 0;
}

/* Under the mutex. The primary context is what the CUDA runtime and the frameworks over it use. */
static int load_new(const char* who, const kiln_cuda_program* program, open_device* opened, int device) {
  if (opened->context == NULL) {
    const status code = api.retain(&opened->context, opened->device);
    if (code != 0) return fail_driver(who, "cuDevicePrimaryCtxRetain", code);
  }
  kiln_cuda_loaded* loaded = calloc(1, sizeof *loaded);
  if (loaded == NULL) return kiln_host_fail(KILN_ERR_DRIVER, "%s: no memory for the kernels of cuda:%d", who, device);
  const status pushed = api.push(opened->context);
  int code = pushed != 0 ? fail_driver(who, "cuCtxPushCurrent", pushed) : fill_functions(who, program, loaded);
  kiln_cuda_leave(pushed == 0);
  if (code == 0) {
    atomic_store_explicit(&program->loaded[device], loaded, memory_order_release);
    return 0;
  }
  if (loaded->library != NULL) api.unload(loaded->library);
  free(loaded);
  return code;
}

int kiln_cuda_load(const char* who, const kiln_cuda_program* program, int device) {
  open_device* opened;
  int code = open_one(who, device, &opened);
  if (code != 0 || atomic_load_explicit(&program->loaded[device], memory_order_acquire) != NULL) return code;
  pthread_mutex_lock(&mutex);
  if (atomic_load_explicit(&program->loaded[device], memory_order_acquire) == NULL) code = load_new(who, program, opened, device);
  pthread_mutex_unlock(&mutex);
  return code;
}

int kiln_cuda_start(const char* who, const kiln_cuda_program* program, int device, int kernel, const kiln_cuda_launch* launch, void** values) {
  kiln_cuda_loaded* loaded = atomic_load_explicit(&program->loaded[device], memory_order_acquire);
  launch_attribute attribute = {.kind = kProgrammaticSerialization, .value.is_allowed = 1};
  const launch_shape shape = {.grid = {launch->grid, 1, 1}, .threads = {launch->threads, 1, 1}, .shared_bytes = launch->shared_bytes, .stream = launch->stream,
                              .attributes = &attribute, .attribute_count = launch->is_dependent ? 1 : 0};
  const status code = api.launch(&shape, loaded->functions[kernel], values, NULL);
  return code == 0 ? 0 : fail_driver(who, program->kernels[kernel].name, code);
}

/* What the driver answers is not told: at the end of a process it may be gone already, and what it held with it. */
void kiln_cuda_unload(const kiln_set* set) {
  pthread_mutex_lock(&mutex);
  for (int e = 0; e < set->entry_count; ++e) {
    for (int v = 0; v < set->entries[e].variant_count; ++v) {
      const kiln_cuda_program* program = set->entries[e].variants[v].cuda;
      for (int d = 0; program != NULL && d < KILN_CUDA_DEVICES; ++d) {
        kiln_cuda_loaded* loaded = atomic_exchange_explicit(&program->loaded[d], NULL, memory_order_acq_rel);
        if (loaded == NULL) continue;
        api.unload(loaded->library);
        free(loaded);
      }
    }
  }
  for (int d = 0; d < KILN_CUDA_DEVICES; ++d) {
    open_device* opened = atomic_exchange_explicit(&devices[d], NULL, memory_order_acq_rel);
    if (opened != NULL && opened->context != NULL) api.release(opened->device);
    free(opened);
  }
  pthread_mutex_unlock(&mutex);
}
