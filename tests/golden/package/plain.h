/* plain 2.0.1: a kernel set made by Kiln, for x86-64 Linux. Needs libc, libm, libpthread and libdl only.
   load, then plan and run (or the one-call function), then unload. Nothing here prints, throws, exits or reads the environment. */
#ifndef PLAIN_H
#define PLAIN_H

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

#define PLAIN_ABI 1
#define PLAIN_VERSION "2.0.1"
#define PLAIN_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return: 0, or one of these. The numbers never change; plain_last_error() says more. */
enum {
  PLAIN_OK = 0,
  PLAIN_ERR_NULL_ARG = -1, /* an argument, its memory or its shape is NULL */
  PLAIN_ERR_RANK = -2, /* an argument has another number of dimensions */
  PLAIN_ERR_DTYPE = -3, /* an argument has another element type */
  PLAIN_ERR_DEVICE = -4, /* an argument is on another device */
  PLAIN_ERR_DEVICE_MIX = -5, /* arguments are on different devices (CUDA sets) */
  PLAIN_ERR_SHAPE = -6, /* extents of arguments disagree, or one is smaller than the kernel reads or writes */
  PLAIN_ERR_STRIDE = -7, /* the innermost stride is not 1, elements of an output share memory, or an argument on a GPU is not dense */
  PLAIN_ERR_ALIGN = -8, /* an address is not aligned as every variant for these extents needs */
  PLAIN_ERR_BYTE_OFFSET = -9, /* byte_offset is not a multiple of the element size */
  PLAIN_ERR_ALIAS = -10, /* an output overlaps another argument */
  PLAIN_ERR_RANGE = -11, /* an extent, a stride or a span exceeds 32 bits */
  PLAIN_ERR_NO_VARIANT = -12, /* no variant is built for these extents, or only one that fallback forbids */
  PLAIN_ERR_NO_IMAGE = -13, /* the CPU or GPU lacks what every variant for these extents needs */
  PLAIN_ERR_WORKSPACE = -14, /* the workspace is too small (CUDA sets) */
  PLAIN_ERR_CAPTURE = -15, /* the call would break a graph capture (CUDA sets) */
  PLAIN_ERR_STALE_PLAN = -16, /* the plan is of another function, or older than the load in force */
  PLAIN_ERR_ABI = -17, /* the options are of another version */
  PLAIN_ERR_DRIVER = -18, /* the driver failed (CUDA sets) */
  PLAIN_ERR_CANCELLED = -19, /* the call was cancelled (reserved) */
  PLAIN_ERR_NOT_LOADED = -20, /* load was not called, or unload was */
  PLAIN_ERR_THREADS = -21, /* the threads could not be started */
  PLAIN_ERR_KERNEL = -22, /* the kernel itself failed */
  PLAIN_ERR_FILE = -23, /* the call counts could not be written */
};

/* Which variants serve a call: those built for its very extents, for an interval of extents, or for any. */
enum { PLAIN_TIER_EXACT = 1, PLAIN_TIER_BUCKET = 2, PLAIN_TIER_GENERIC = 3 };

/* What plan does when only the generic tier serves a call: tell `warn` once an entry, nothing, or return PLAIN_ERR_NO_VARIANT. */
enum { PLAIN_FALLBACK_WARN_ONCE = 0, PLAIN_FALLBACK_ALLOW = 1, PLAIN_FALLBACK_ERROR = 2 };

/* All zero but `size` is a good choice. A member that a newer header adds counts as zero when the program was built with an older one. */
typedef struct plain_opts {
  uint32_t size;   /* sizeof(plain_opts) */
  int32_t threads; /* that work on one call, its caller included; 0: as tuned (2), at most the CPUs this process may use */
  /* When given, no thread is started: calls body(argument, i) once for each i in [0, count), on any threads, and returns after the last call
     has returned: 0, or any non-zero value that body returned. */
  int (*parallel_for)(void* user, int count, int (*body)(void* argument, int index), void* argument);
  void* parallel_for_user;
  const char* calls_path; /* when given, unload writes the call counts there */
  int32_t fallback;       /* a PLAIN_FALLBACK_ value */
  uint32_t reserved;
  void (*warn)(void* user, const char* text); /* may be called by any thread that plans */
  void* warn_user;
} plain_opts;

/* How one call will be served. Caller-owned, copied freely, bound to no thread; good until the last unload. */
typedef struct plain_plan {
  uint32_t size;
  int32_t tier;    /* a PLAIN_TIER_ value */
  int32_t variant; /* its place in the dispatch order below */
  uint32_t reserved;
  uint64_t workspace_bytes;  /* 0: a CPU's plans need none */
  uint64_t launches_plainly; /* 0 */
  uint64_t opaque[124];
} plain_plan;

/* The ABI number of the library that was found; compare it with PLAIN_ABI. Any thread, any time. */
PLAIN_API int plain_abi_version(void);

/* Starts the threads and asks the CPU what it can. NULL: default options. Each further load only counts: the options of the first are in
   force until as many unloads have come. Any thread, any time. After fork, only the parent may call the set. */
PLAIN_API int plain_load(const plain_opts* options);

/* The last unload joins the threads, gives scratch memory back and writes the call counts if calls_path was given. No call of the set may be
   running then; a program that closes the library by dlclose unloads first. Any thread. */
PLAIN_API int plain_unload(void);

/* Threads that work on one call; 0: the application's parallel_for decides. Any thread, after load. */
PLAIN_API int plain_threads(void);

/* The tier that would serve `entry` for densely stored, aligned arguments, or a code. `extents` has one number a symbol, in the order that the
   entry's comment below gives. Any thread, after load. */
PLAIN_API int plain_supports(const char* entry, const int64_t* extents);

/* Writes how often each shape was called, since the first load, as a demand file for `kiln demand import`; the file is replaced in one step.
   Any thread, any time. */
PLAIN_API int plain_dump_calls(const char* path);

/* The sentence that belongs to the last code other than 0 that this thread got. Valid until its next failing call. */
PLAIN_API const char* plain_last_error(void);

/* The bytes of share/plain/manifest.json, closed by a 0 that `bytes` does not count (it may be NULL). Any thread, any time. */
PLAIN_API const char* plain_manifest(size_t* bytes);

/* scale: scale(f32, mode=half)
     in      input   f32  shape [m, n]; dimension 0 is Halide's 1, 1 is Halide's 0; dimension 1 has stride 1
     factor  scalar  f32
     y       output  bf16  shape [m, n]; dimension 0 is Halide's 1, 1 is Halide's 0; dimension 1 has stride 1
   Symbols, for plain_supports: m n
   Variants, in dispatch order:
     0 exact m=16, n=4096 candidate 687ed5e43833
     1 generic candidate b3e10e68ab8e
*/
/* Checks the views and chooses a variant. Views are read now, not kept. Any thread, after load; several at once. */
PLAIN_API int plain_scale_plan(const DLTensor* in_, const DLTensor* y, plain_plan* plan);
/* Runs the plan on these addresses (of the first element). Allocates nothing after the first call of a plan, logs nothing, takes no lock
   but to wake sleeping workers. One plan may run on several threads at once, on different outputs. */
PLAIN_API int plain_scale_run(const plain_plan* plan, const void* in_, float factor, void* y);
/* plan and run in one. */
PLAIN_API int plain_scale(const DLTensor* in_, float factor, const DLTensor* y);

#ifdef __cplusplus
}
#endif
#endif /* PLAIN_H */
