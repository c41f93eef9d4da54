/* Prints what the set answers to calls that are wrong, one line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "night.h"

static float memory[3][256 * 256 + 64];

static DLTensor matrix(void* data, int64_t* shape, int64_t* strides) {
  DLTensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.device.device_type = kDLCPU;
  t.ndim = 2;
  t.dtype.code = kDLFloat;
  t.dtype.bits = 32;
  t.dtype.lanes = 1;
  t.shape = shape;
  t.strides = strides;
  return t;
}

static float* aligned(int index) { return (float*)(((uintptr_t)memory[index] + 63) / 64 * 64); }

static DLTensor a, b, c;
static int64_t a_shape[2], b_shape[2], c_shape[2], a_strides[2], b_strides[2], c_strides[2];

static void reset(int64_t m, int64_t n, int64_t k) {
  a_shape[0] = m, a_shape[1] = k, a_strides[0] = k, a_strides[1] = 1;
  b_shape[0] = k, b_shape[1] = n, b_strides[0] = n, b_strides[1] = 1;
  c_shape[0] = m, c_shape[1] = n, c_strides[0] = n, c_strides[1] = 1;
  a = matrix(aligned(0), a_shape, a_strides);
  b = matrix(aligned(1), b_shape, b_strides);
  c = matrix(aligned(2), c_shape, c_strides);
}

static void say(int code) {
  printf("%d %s\n", code, code ? night_last_error() : "");
  reset(7, 40, 5);
}

static int matmul(void) { return night_matmul(&a, &b, &c); }

static void wrong_views(void) {
  say(night_matmul(NULL, &b, &c));
  b.ndim = 3, say(matmul());
  b.dtype.bits = 64, say(matmul());
  b.device.device_type = kDLCUDA, say(matmul());
  b_shape[0] = 6, say(matmul());
  a_strides[1] = 2, say(matmul());
  c_strides[0] = 39, say(matmul());
  a.data = (char*)a.data + 2, say(matmul());
  a.byte_offset = 6, say(matmul());
  c.data = b.data, say(matmul());
  a_strides[0] = INT64_C(1) << 33, say(matmul());
}

static void small_input(void) {
  static int16_t in[4][8], out[4][8];
  static int32_t total[8];
  int64_t in_shape[2] = {4, 7}, out_shape[2] = {4, 6}, total_shape[1] = {6};
  DLTensor i = matrix(in, in_shape, NULL), o = matrix(out, out_shape, NULL), t = matrix(total, total_shape, NULL);
  i.dtype.code = o.dtype.code = t.dtype.code = kDLInt;
  i.dtype.bits = o.dtype.bits = 16;
  t.ndim = 1;
  say(night_blur(&i, &o, &t));
}

static void exact_alignment(void) {
  night_plan plan;
  reset(64, 64, 32);
  if (night_matmul_plan(&a, &b, &c, &plan) != 0 || plan.tier != NIGHT_TIER_EXACT) {
    printf("no exact variant: %s\n", night_last_error());
    return;
  }
  say(night_matmul_run(&plan, aligned(0) + 1, aligned(1), aligned(2)));
}

int main(void) {
  night_opts options = {0};
  reset(7, 40, 5);
  say(matmul());
  options.size = 4096;
  say(night_load(&options));
  options.size = sizeof options;
  options.fallback = NIGHT_FALLBACK_ALLOW;
  say(night_load(&options));
  wrong_views();
  small_input();
  exact_alignment();
  say(night_supports("nothing", NULL));
  say(night_dump_calls("/nonexistent/calls"));
  say(night_unload());
  options.fallback = NIGHT_FALLBACK_ERROR;
  say(night_load(&options));
  reset(3, 7, 5);
  say(matmul());
  say(night_unload());
  say(night_unload());
  return 0;
}
