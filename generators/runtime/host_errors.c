/* What Halide's objects report through halide_error_*: each becomes Halide's own code and a sentence, kept on the thread that failed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "generators/runtime/host.h"

enum { kTextBytes = 512 };

static _Thread_local int last_code;
static _Thread_local char last_text[kTextBytes];

int kiln_host_fail(int code, const char* format, ...) {
  char text[kTextBytes]; /* the arguments may point into last_text */
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(last_text, sizeof last_text, "%s", text);
  last_code = code;
  return code;
}

int kiln_host_error_code(void) { return last_code; }

const char* kiln_host_error_text(void) { return last_text; }

void kiln_host_clear_error(void) {
  last_code = 0;
  last_text[0] = 0;
}

/* `type` holds the bits of a kiln_halide_type: code, bits, lanes. */
static const char* type_name(uint32_t type, char name[24]) {
  static const char* const kCodes[] = {"int", "uint", "float", "handle", "bfloat"};
  const uint32_t code = type & 0xff, bits = type >> 8 & 0xff, lanes = type >> 16;
  snprintf(name, 24, lanes == 1 ? "%s%u" : "%s%ux%u", code < 5 ? kCodes[code] : "type", bits, lanes);
  return name;
}

/* Names as Halide passes them: "Input buffer A", "A", "A.stride.0". The codes are halide_error_code_t's. */

int halide_error_explicit_bounds_too_small(void* c, const char* func, const char* var, int min_bound, int max_bound, int min_required,
                                           int max_required) {
  (void)c;
  return kiln_host_fail(-2, "%s: bounds given for %s are %d to %d, the region needed is %d to %d", func, var, min_bound, max_bound, min_required,
                        max_required);
}

int halide_error_bad_type(void* c, const char* name, uint32_t given, uint32_t wanted) {
  char a[24], b[24];
  (void)c;
  return kiln_host_fail(-3, "%s has type %s, the kernel was built for %s", name, type_name(given, a), type_name(wanted, b));
}

int halide_error_access_out_of_bounds(void* c, const char* name, int dimension, int min_touched, int max_touched, int min_valid, int max_valid) {
  (void)c;
  return kiln_host_fail(-4, "%s is accessed at %d, dimension %d of the buffer holds %d to %d", name,
                        min_touched < min_valid ? min_touched : max_touched, dimension, min_valid, max_valid);
}

int halide_error_buffer_allocation_too_large(void* c, const char* name, uint64_t bytes, uint64_t limit) {
  (void)c;
  return kiln_host_fail(-5, "%s spans %llu bytes, at most %llu are possible", name, (unsigned long long)bytes, (unsigned long long)limit);
}

int halide_error_buffer_extents_too_large(void* c, const char* name, int64_t elements, int64_t limit) {
  (void)c;
  return kiln_host_fail(-6, "%s spans %lld elements, at most %lld are possible", name, (long long)elements, (long long)limit);
}

int halide_error_constraints_make_required_region_smaller(void* c, const char* name, int dimension, int constrained_min, int constrained_extent,
                                                          int required_min, int required_extent) {
  (void)c;
  return kiln_host_fail(-7, "%s is constrained to %d to %d in dimension %d, the region needed is %d to %d", name, constrained_min,
                        constrained_min + constrained_extent - 1, dimension, required_min, required_min + required_extent - 1);
}

int halide_error_constraint_violated(void* c, const char* name, int value, const char* wanted_name, int wanted) {
  (void)c;
  return kiln_host_fail(-8, "%s is %d, the kernel was built for %s = %d", name, value, wanted_name, wanted);
}

int halide_error_param_too_small_i64(void* c, const char* name, int64_t value, int64_t limit) {
  (void)c;
  return kiln_host_fail(-9, "%s is %lld, the least value is %lld", name, (long long)value, (long long)limit);
}

int halide_error_param_too_small_u64(void* c, const char* name, uint64_t value, uint64_t limit) {
  (void)c;
  return kiln_host_fail(-9, "%s is %llu, the least value is %llu", name, (unsigned long long)value, (unsigned long long)limit);
}

int halide_error_param_too_small_f64(void* c, const char* name, double value, double limit) {
  (void)c;
  return kiln_host_fail(-9, "%s is %g, the least value is %g", name, value, limit);
}

int halide_error_param_too_large_i64(void* c, const char* name, int64_t value, int64_t limit) {
  (void)c;
  return kiln_host_fail(-10, "%s is %lld, the greatest value is %lld", name, (long long)value, (long long)limit);
}

int halide_error_param_too_large_u64(void* c, const char* name, uint64_t value, uint64_t limit) {
  (void)c;
  return kiln_host_fail(-10, "%s is %llu, the greatest value is %llu", name, (unsigned long long)value, (unsigned long long)limit);
}

int halide_error_param_too_large_f64(void* c, const char* name, double value, double limit) {
  (void)c;
  return kiln_host_fail(-10, "%s is %g, the greatest value is %g", name, value, limit);
}

int halide_error_out_of_memory(void* c) {
  (void)c;
  return kiln_host_fail(-11, "no memory for scratch; %zu bytes are in use or pooled", kiln_host_scratch_bytes());
}

int halide_error_buffer_argument_is_null(void* c, const char* name) {
  (void)c;
  return kiln_host_fail(-12, "%s is NULL", name);
}

int halide_error_debug_to_file_failed(void* c, const char* func, const char* file, int code) {
  (void)c;
  return kiln_host_fail(-13, "%s could not be written to %s: %d", func, file, code);
}

int halide_error_no_device_interface(void* c) {
  (void)c;
  return kiln_host_fail(-19, "a buffer names device memory but no device");
}

int halide_error_unaligned_host_ptr(void* c, const char* name, int alignment) {
  (void)c;
  return kiln_host_fail(-24, "%s is not aligned to %d bytes", name, alignment);
}

int halide_error_bad_fold(void* c, const char* func, const char* var, const char* loop) {
  (void)c;
  return kiln_host_fail(-25, "%s is folded along %s, but loop %s does not walk it in order", func, var, loop);
}

int halide_error_fold_factor_too_small(void* c, const char* func, const char* var, int factor, const char* loop, int needed) {
  (void)c;
  return kiln_host_fail(-26, "%s is folded along %s by %d, loop %s needs %d", func, var, factor, loop, needed);
}

int halide_error_requirement_failed(void* c, const char* condition, const char* message) {
  (void)c;
  (void)condition; /* what it was found to be: always "false" */
  size_t length = strlen(message);
  while (length > 0 && message[length - 1] == '\n') --length; /* Halide ends the author's words with one */
  return kiln_host_fail(-27, "the algorithm does not allow this call: %.*s", (int)length, message);
}

int halide_error_buffer_extents_negative(void* c, const char* name, int dimension, int extent) {
  (void)c;
  return kiln_host_fail(-28, "%s has extent %d in dimension %d, at least 0 is needed", name, extent, dimension);
}

int halide_error_specialize_fail(void* c, const char* message) {
  (void)c;
  return kiln_host_fail(-31, "no specialisation of the schedule applies: %s", message);
}

int halide_error_host_is_null(void* c, const char* name) {
  (void)c;
  return kiln_host_fail(-34, "%s has no memory: its host pointer is NULL", name);
}

int halide_error_bad_extern_fold(void* c, const char* func, int dimension, int min, int extent, int valid_min, int factor) {
  (void)c;
  return kiln_host_fail(-35, "%s: dimension %d is needed from %d to %d, which wraps around the fold of %d that starts at %d", func, dimension, min,
                        min + extent - 1, factor, valid_min);
}

int halide_error_device_interface_no_device(void* c) {
  (void)c;
  return kiln_host_fail(-36, "a buffer names a device but no device memory");
}

int halide_error_host_and_device_dirty(void* c) {
  (void)c;
  return kiln_host_fail(-37, "a buffer is newer both in memory and on its device");
}

int halide_error_buffer_is_null(void* c, const char* routine) {
  (void)c;
  return kiln_host_fail(-38, "%s was given no buffer", routine);
}

int halide_error_device_crop_failed(void* c) {
  (void)c;
  return kiln_host_fail(-41, "a device buffer could not be cropped");
}

int halide_error_bad_dimensions(void* c, const char* name, int32_t given, int32_t wanted) {
  (void)c;
  return kiln_host_fail(-43, "%s has %d dimensions, the kernel was built for %d", name, given, wanted);
}

int halide_error_device_dirty_with_no_device_support(void* c, const char* name) {
  (void)c;
  return kiln_host_fail(-44, "%s is newest on a device, this kernel runs on the CPU", name);
}

int halide_error_storage_bound_too_small(void* c, const char* func, const char* var, int given, int needed) {
  (void)c;
  return kiln_host_fail(-45, "%s: storage for %s is bounded to %d, %d is needed", func, var, given, needed);
}

int halide_error_split_factor_not_positive(void* c, const char* func, const char* original, const char* outer, const char* inner,
                                           const char* factor_text, int factor) {
  (void)c;
  return kiln_host_fail(-46, "%s: the split of %s into %s and %s by %s has factor %d, at least 1 is needed", func, original, outer, inner, factor_text,
                        factor);
}

int halide_error_bounds_inference_call_failed(void* c, const char* stage, int result) {
  (void)c;
  return kiln_host_fail(result, "the bounds query of extern stage %s returned %d", stage, result);
}

int halide_error_extern_stage_failed(void* c, const char* stage, int result) {
  (void)c;
  return kiln_host_fail(result, "extern stage %s returned %d", stage, result);
}

int halide_error_vscale_invalid(void* c, const char* func, int at_run_time, int at_compile_time) {
  (void)c;
  return kiln_host_fail(-47, "%s: vectors of %d units at run time, the kernel was built for %d", func, at_run_time, at_compile_time);
}

/* The words of a requirement that its author wrote are put together by these, one after the other, from `at` up to `end`, which is never written. Each
   returns where the next one goes on: at the terminating zero. */
static char* append(char* at, char* end, const char* format, ...) {
  if (at >= end) return at;
  const ptrdiff_t room = end - at;
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(at, (size_t)room, format, arguments);
  va_end(arguments);
  return length < 0 ? at : length < room ? at + length : end - 1;
}

char* halide_string_to_string(char* at, char* end, const char* text) { return append(at, end, "%s", text ? text : "NULL"); }

char* halide_int64_to_string(char* at, char* end, int64_t value, int digits) { return append(at, end, "%0*lld", digits, (long long)value); }

char* halide_uint64_to_string(char* at, char* end, uint64_t value, int digits) { return append(at, end, "%0*llu", digits, (unsigned long long)value); }

char* halide_double_to_string(char* at, char* end, double value, int scientific) { return append(at, end, scientific ? "%e" : "%f", value); }

char* halide_pointer_to_string(char* at, char* end, const void* pointer) { return append(at, end, "%p", pointer); }
