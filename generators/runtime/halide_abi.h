/* The part of Halide 21's binary interface that its objects and our runtime share. Declared here so that a package builds without Halide's
   headers; tests/generators/runtime compares every layout with HalideRuntime.h. */
#ifndef KILN_RUNTIME_HALIDE_ABI_H
#define KILN_RUNTIME_HALIDE_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_TYPE_INT = 0, KILN_TYPE_UINT = 1, KILN_TYPE_FLOAT = 2, KILN_TYPE_HANDLE = 3, KILN_TYPE_BFLOAT = 4 };

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} kiln_halide_type;

typedef struct {
  int32_t min, extent, stride;
  uint32_t flags;
} kiln_halide_dimension;

typedef struct {
  uint64_t device;
  const void* device_interface;
  uint8_t* host; /* NULL with device 0: the call answers with the region it needs (a bounds query) */
  uint64_t flags;
  kiln_halide_type type;
  int32_t dimensions;
  kiln_halide_dimension* dim;
  void* padding;
} kiln_halide_buffer;

/* A kernel in Halide's argv form: one pointer an argument (a kiln_halide_buffer*, or the address of a scalar). */
typedef int (*kiln_kernel)(void** arguments);

#ifdef __cplusplus
}
#endif
#endif
