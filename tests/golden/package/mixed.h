/* mixed 2.0.1: a kernel set made by Kiln, for x86-64 Linux and CUDA GPUs. Needs libc, libm, libpthread and libdl only, and finds the CUDA driver when a tensor on a GPU comes.
   load, then plan and run (or the one-call function), then unload. Nothing here prints, throws, exits or reads the environment. */
#ifndef MIXED_H
#define MIXED_H

#include <stddef.h>
#include <stdint.h>

/* DLPack's tensor view, as DLPack 1.0 lays it out. An application that uses DLPack's own header includes that one first. */
#if !defined(DLPACK_DLPACK_H_) && !defined(KILN_DLPACK_VIEW)
#define KILN_DLPACK_VIEW
typedef enum { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 } DLDataTypeCode;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL means row-major */
  uint64_t byte_offset;
} DLTensor;
#endif

#define MIXED_ABI 1
#define MIXED_VERSION "2.0.1"
#define MIXED_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return: 0, or one of these. The numbers never change; mixed_last_error() says more. */
enum {
  MIXED_OK = 0,
  MIXED_ERR_NULL_ARG = -1, /* an argument, its memory or its shape is NULL */
  MIXED_ERR_RANK = -2, /* an argument has another number of dimensions */
  MIXED_ERR_DTYPE = -3, /* an argument has another element type */
  MIXED_ERR_DEVICE = -4, /* an argument is on another device */
  MIXED_ERR_DEVICE_MIX = -5, /* arguments are on different devices (CUDA sets) */
  MIXED_ERR_SHAPE = -6, /* extents of arguments disagree, or one is smaller than the kernel reads or writes */
  MIXED_ERR_STRIDE = -7, /* the innermost stride is not 1, elements of an output share memory, or an argument on a GPU is not dense */
  MIXED_ERR_ALIGN = -8, /* an address is not aligned as every variant for these extents needs */
  MIXED_ERR_BYTE_OFFSET = -9, /* byte_offset is not a multiple of the element size */
  MIXED_ERR_ALIAS = -10, /* an output overlaps another argument */
  MIXED_ERR_RANGE = -11, /* an extent, a stride or a span exceeds 32 bits */
  MIXED_ERR_NO_VARIANT = -12, /* no variant is built for these extents, or only one that fallback forbids */
  MIXED_ERR_NO_IMAGE = -13, /* the CPU or GPU lacks what every variant for these extents needs */
  MIXED_ERR_WORKSPACE = -14, /* the workspace is too small (CUDA sets) */
  MIXED_ERR_CAPTURE = -15, /* the call would break a graph capture (CUDA sets) */
  MIXED_ERR_STALE_PLAN = -16, /* the plan is of another function, or older than the load in force */
  MIXED_ERR_ABI = -17, /* the options are of another version */
  MIXED_ERR_DRIVER = -18, /* the driver failed (CUDA sets) */
  MIXED_ERR_CANCELLED = -19, /* the call was cancelled (reserved) */
  MIXED_ERR_NOT_LOADED = -20, /* load was not called, or unload was */
  MIXED_ERR_THREADS = -21, /* the threads could not be started */
  MIXED_ERR_KERNEL = -22, /* the kernel itself failed */
  MIXED_ERR_FILE = -23, /* the call counts could not be written */
};

/* Which variants serve a call: those built for its very extents, for an interval of extents, or for any. */
enum { MIXED_TIER_EXACT = 1, MIXED_TIER_BUCKET = 2, MIXED_TIER_GENERIC = 3 };

/* What plan does when only the generic tier serves a call: tell `warn` once an entry, nothing, or return MIXED_ERR_NO_VARIANT. */
enum { MIXED_FALLBACK_WARN_ONCE = 0, MIXED_FALLBACK_ALLOW = 1, MIXED_FALLBACK_ERROR = 2 };

/* All zero but `size` is a good choice. A member that a newer header adds counts as zero when the program was built with an older one. */
typedef struct mixed_opts {
  uint32_t size;   /* sizeof(mixed_opts) */
  int32_t threads; /* that work on one call, its caller included; 0: as tuned (2), at most the CPUs this process may use */
  /* When given, no thread is started: calls body(argument, i) once for each i in [0, count), on any threads, and returns after the last call
     has returned: 0, or any non-zero value that body returned. */
  int (*parallel_for)(void* user, int count, int (*body)(void* argument, int index), void* argument);
  void* parallel_for_user;
  const char* calls_path; /* when given, unload writes the call counts there */
  int32_t fallback;       /* a MIXED_FALLBACK_ value */
  uint32_t reserved;
  void (*warn)(void* user, const char* text); /* may be called by any thread that plans */
  void* warn_user;
} mixed_opts;

/* How one call will be served. Caller-owned, copied freely, bound to no thread; good until the last unload. */
typedef struct mixed_plan {
  uint32_t size;
  int32_t tier;    /* a MIXED_TIER_ value */
  int32_t variant; /* its place in the dispatch order below */
  uint32_t reserved;
  uint64_t workspace_bytes;  /* that run needs on the GPU; 0: none */
  uint64_t launches_plainly; /* 0, as plan leaves it: as tuned, perhaps while the kernels before in the stream end (what they write is waited for);
                                1, set by the caller: when they have ended */
  uint64_t opaque[124];
} mixed_plan;

/* The ABI number of the library that was found; compare it with MIXED_ABI. Any thread, any time. */
MIXED_API int mixed_abi_version(void);

/* Starts the threads and asks the CPU what it can. NULL: default options. Each further load only counts: the options of the first are in
   force until as many unloads have come. Any thread, any time. After fork, only the parent may call the set. */
MIXED_API int mixed_load(const mixed_opts* options);

/* The last unload joins the threads, gives scratch memory back and writes the call counts if calls_path was given. No call of the set may be
   running then; a program that closes the library by dlclose unloads first. Any thread. */
MIXED_API int mixed_unload(void);

/* Threads that work on one call; 0: the application's parallel_for decides. Any thread, after load. */
MIXED_API int mixed_threads(void);

/* The tier that would serve `entry` for densely stored, aligned arguments on this device, or a code. `extents` has one number a symbol, in the
   order that the entry's comment below gives. Any thread, after load. */
MIXED_API int mixed_supports(const char* entry, const int64_t* extents, DLDevice device);

/* Puts every kernel that cuda:`device` can run onto it. Plans do this when they first meet a device; before a graph is captured it is to be done, since a
   driver loads nothing while a stream is captured. MIXED_ERR_DRIVER where there is no driver, MIXED_ERR_NO_IMAGE where the set has no kernel for such a GPU.
   Any thread, after load. */
MIXED_API int mixed_load_device(int device);

/* Writes how often each shape was called, since the first load, as a demand file for `kiln demand import`; the file is replaced in one step.
   Any thread, any time. */
MIXED_API int mixed_dump_calls(const char* path);

/* The sentence that belongs to the last code other than 0 that this thread got. Valid until its next failing call. */
MIXED_API const char* mixed_last_error(void);

/* The bytes of share/mixed/manifest.json, closed by a 0 that `bytes` does not count (it may be NULL). Any thread, any time. */
MIXED_API const char* mixed_manifest(size_t* bytes);

/* scale: scale(f32, mode=half)
     in      input   f32  shape [m, n]; dimension 0 is Halide's 1, 1 is Halide's 0; dimension 1 has stride 1
     factor  scalar  f32
     y       output  bf16  shape [m, n]; dimension 0 is Halide's 1, 1 is Halide's 0; dimension 1 has stride 1
   Symbols, for mixed_supports: m n
   Variants, in dispatch order:
     0 exact m=16, n=4096 candidate 687ed5e43833
     1 generic candidate b3e10e68ab8e
*/
/* Checks the views and chooses a variant. Views are read now, not kept. Any thread, after load; several at once. */
MIXED_API int mixed_scale_plan(const DLTensor* in_, const DLTensor* y, mixed_plan* plan);
/* Runs the plan on these addresses (of the first element). On a GPU it launches into `stream` (a CUstream or cudaStream_t of the tensors' device; NULL: the
   default stream) and returns; `workspace` is that device's memory, plan->workspace_bytes of it, aligned to 256 bytes, until the kernels have run (NULL where
   none is needed). It allocates nothing, takes no lock and may be captured into a graph. On the CPU it returns when done and reads neither. One plan
   may run on several threads at once, on different outputs and workspaces. */
MIXED_API int mixed_scale_run(const mixed_plan* plan, const void* in_, float factor, void* y, void* workspace, size_t workspace_bytes, void* stream);
/* plan and run in one. */
MIXED_API int mixed_scale(const DLTensor* in_, float factor, const DLTensor* y, void* workspace, size_t workspace_bytes, void* stream);

/* scaled: scaled(bf16)
     x    input   bf16  shape [m, n]; dimension 0 is Halide's 1, 1 is Halide's 0; dimension 1 has stride 1
     eps  scalar  f32
     y    output  bf16  shape [m, n]; dimension 0 is Halide's 1, 1 is Halide's 0; dimension 1 has stride 1
   Symbols, for mixed_supports: m n
   Variants, in dispatch order:
     0 exact m=4, n=64 candidate 3a894c3128ba
     1 bucket m=5..9, n=1..4096 candidate 3a894c3128ba
*/
/* Checks the views and chooses a variant. Views are read now, not kept. Any thread, after load; several at once. */
MIXED_API int mixed_scaled_plan(const DLTensor* x, const DLTensor* y, mixed_plan* plan);
/* Runs the plan on these addresses (of the first element). On a GPU it launches into `stream` (a CUstream or cudaStream_t of the tensors' device; NULL: the
   default stream) and returns; `workspace` is that device's memory, plan->workspace_bytes of it, aligned to 256 bytes, until the kernels have run (NULL where
   none is needed). It allocates nothing, takes no lock and may be captured into a graph. On the CPU it returns when done and reads neither. One plan
   may run on several threads at once, on different outputs and workspaces. */
MIXED_API int mixed_scaled_run(const mixed_plan* plan, const void* x, float eps, void* y, void* workspace, size_t workspace_bytes, void* stream);
/* plan and run in one. */
MIXED_API int mixed_scaled(const DLTensor* x, float eps, const DLTensor* y, void* workspace, size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif
#endif /* MIXED_H */
