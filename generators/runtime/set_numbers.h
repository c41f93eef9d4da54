/* Numbers that a set, its callers and its exporter share. Codes are append-only: they are compiled into applications. */
#ifndef KILN_RUNTIME_SET_NUMBERS_H
#define KILN_RUNTIME_SET_NUMBERS_H

/* Raised when an application built with an older header could not call a newer library. It is the number in the SONAME. */
enum { KILN_SET_ABI = 1 };

/* Name, number, meaning. Those of CUDA sets keep their places here too. */
#define KILN_SET_CODES(X)                                                                          \
  X(NULL_ARG, -1, "an argument, its memory or its shape is NULL")                                  \
  X(RANK, -2, "an argument has another number of dimensions")                                      \
  X(DTYPE, -3, "an argument has another element type")                                             \
  X(DEVICE, -4, "an argument is on another device")                                                \
  X(DEVICE_MIX, -5, "arguments are on different devices (CUDA sets)")                              \
  X(SHAPE, -6, "extents of arguments disagree, or one is smaller than the kernel reads or writes") \
  X(STRIDE, -7, "the innermost stride is not 1, elements of an output share memory, or an argument on a GPU is not dense") \
  X(ALIGN, -8, "an address is not aligned as every variant for these extents needs")               \
  X(BYTE_OFFSET, -9, "byte_offset is not a multiple of the element size")                          \
  X(ALIAS, -10, "an output overlaps another argument")                                             \
  X(RANGE, -11, "an extent, a stride or a span exceeds 32 bits")                                   \
  X(NO_VARIANT, -12, "no variant is built for these extents, or only one that fallback forbids")   \
  X(NO_IMAGE, -13, "the CPU or GPU lacks what every variant for these extents needs")              \
  X(WORKSPACE, -14, "the workspace is too small (CUDA sets)")                                      \
  X(CAPTURE, -15, "the call would break a graph capture (CUDA sets)")                              \
  X(STALE_PLAN, -16, "the plan is of another function, or older than the load in force")           \
  X(ABI, -17, "the options are of another version")                                                \
  X(DRIVER, -18, "the driver failed (CUDA sets)")                                                  \
  X(CANCELLED, -19, "the call was cancelled (reserved)")                                           \
  X(NOT_LOADED, -20, "load was not called, or unload was")                                         \
  X(THREADS, -21, "the threads could not be started")                                              \
  X(KERNEL, -22, "the kernel itself failed")                                                       \
  X(FILE, -23, "the call counts could not be written")

enum {
#define KILN_SET_CODE(name, number, meaning) KILN_ERR_##name = number,
  KILN_SET_CODES(KILN_SET_CODE)
#undef KILN_SET_CODE
};

enum { KILN_TIER_EXACT = 1, KILN_TIER_BUCKET = 2, KILN_TIER_GENERIC = 3 };
enum { KILN_FALLBACK_WARN_ONCE = 0, KILN_FALLBACK_ALLOW = 1, KILN_FALLBACK_ERROR = 2 };

/* Limits of one entry, so that a plan is a POD of 1 KiB. */
enum { KILN_MAX_ARGUMENTS = 16, KILN_MAX_RANK = 16, KILN_MAX_DIMENSIONS = 56, KILN_MAX_SYMBOLS = 32, KILN_PLAN_BYTES = 1024 };

/* Limits of a variant on GPUs: device ordinals, kernels one after the other, buffers between them, parameters of one kernel, tensor maps among them. */
enum { KILN_CUDA_DEVICES = 64, KILN_CUDA_KERNELS = 8, KILN_CUDA_BETWEENS = 8, KILN_CUDA_PARAMETERS = 32, KILN_CUDA_MAPS = 8 };

/* Counters: shapes that one entry keeps apart, and the slots of its open hash table (twice as many, so that probing stays short). */
enum { KILN_CALL_SHAPES = 1024, KILN_CALL_SLOTS = 2048 };

#endif
