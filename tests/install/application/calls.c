/* Right calls: every tier, odd strides, misaligned memory, an own parallel loop, eight threads at once. Each result is compared with a plain loop;
   then the counts are written to the path given. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "night.h"

static DLTensor matrix(float* data, int64_t* shape, int64_t* strides) {
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

/* Row-major with `pad` unused columns, beginning `shift` floats after a multiple of 64 bytes. */
static float* make(int64_t rows, int64_t stride, int shift) {
  float* memory = aligned_alloc(64, (size_t)((rows * stride + 32) * 4 + 63) / 64 * 64);
  for (int64_t i = 0; i < rows * stride + shift; ++i) memory[i] = (float)((i * 7 + 3) % 11 - 5) / 8;
  return memory + shift;
}

static int is_right(const float* a, const float* b, const float* c, int m, int n, int k, int pad) {
  for (int y = 0; y < m; ++y) {
    for (int x = 0; x < n; ++x) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += (double)a[y * (k + pad) + i] * b[i * (n + pad) + x];
      const double wanted = sum / (1 + exp(-sum));
      if (fabs(c[y * (n + pad) + x] - wanted) > 1e-4 * (1 + fabs(wanted))) return 0;
    }
  }
  return 1;
}

/* The tier that served, or a code. -100 for a wrong result. */
static int try_matmul(int m, int n, int k, int pad, int shift) {
  int64_t as[] = {m, k}, bs[] = {k, n}, cs[] = {m, n}, at[] = {k + pad, 1}, bt[] = {n + pad, 1}, ct[] = {n + pad, 1};
  float *a = make(m, k + pad, shift), *b = make(k, n + pad, shift), *c = make(m, n + pad, shift);
  DLTensor av = matrix(a, as, at), bv = matrix(b, bs, bt), cv = matrix(c, cs, ct);
  night_plan plan;
  int code = night_matmul_plan(&av, &bv, &cv, &plan);
  if (code == 0) code = night_matmul_run(&plan, a, b, c);
  if (code != 0) printf("%s\n", night_last_error());
  if (code == 0) code = is_right(a, b, c, m, n, k, pad) ? plan.tier : -100;
  free(a - shift), free(b - shift), free(c - shift);
  return code;
}

static void all_tiers(void) {
  printf("exact %d\n", try_matmul(64, 64, 32, 0, 0));
  printf("exact extents, misaligned %d\n", try_matmul(64, 64, 32, 0, 1));
  printf("exact extents, padded rows %d\n", try_matmul(64, 64, 32, 3, 0));
  printf("bucket %d\n", try_matmul(17, 47, 13, 0, 0));
  printf("bucket's ends %d %d %d\n", try_matmul(1, 32, 1, 0, 0), try_matmul(128, 256, 9, 0, 0), try_matmul(129, 256, 9, 0, 0));
  printf("below a tile %d\n", try_matmul(2, 31, 3, 1, 1));
  printf("unseen extent %d\n", try_matmul(131, 7, 5, 0, 3));
  printf("one element %d\n", try_matmul(1, 1, 1, 0, 0));
  printf("a sum of no terms %d\n", try_matmul(5, 6, 0, 0, 0));
  printf("no rows %d\n", try_matmul(0, 6, 3, 0, 0));
}

static void* many_calls(void* failures) {
  for (int i = 0; i < 20; ++i) {
    if (try_matmul(64, 64, 32, 0, 0) < 0 || try_matmul(131, 7, 5, 0, 0) < 0) ++*(int*)failures;
  }
  return NULL;
}

static void eight_threads(void) {
  pthread_t threads[8];
  int failures[8] = {0}, sum = 0;
  for (int t = 0; t < 8; ++t) pthread_create(&threads[t], NULL, many_calls, &failures[t]);
  for (int t = 0; t < 8; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < 8; ++t) sum += failures[t];
  printf("eight threads at once, failures %d\n", sum);
}

static int backwards(void* user, int count, int (*body)(void*, int), void* argument) {
  int code = 0;
  ++*(int*)user;
  for (int i = count - 1; i >= 0; --i) code = body(argument, i) ? 1 : code;
  return code;
}

static void pointwise(void) {
  float x[5] = {1, 2, 3, 4, 5};
  int64_t shape[] = {5};
  DLTensor v = matrix(x, shape, NULL);
  v.ndim = 1;
  const int code = night_axpb(&v, 10, &v, &v);
  printf("in place %d: %g %g\n", code, x[0], x[4]);
}

static void two_outputs(void) {
  int16_t in[3][6], out[3][4];
  int32_t total[4];
  int64_t in_shape[] = {3, 6}, out_shape[] = {3, 4}, total_shape[] = {4}, extents[] = {4, 3};
  for (int i = 0; i < 18; ++i) (&in[0][0])[i] = (int16_t)i;
  DLTensor i = matrix((float*)(void*)in, in_shape, NULL), o = matrix((float*)(void*)out, out_shape, NULL), t = matrix((float*)(void*)total, total_shape, NULL);
  i.dtype.code = o.dtype.code = t.dtype.code = kDLInt;
  i.dtype.bits = o.dtype.bits = 16;
  t.ndim = 1;
  const int code = night_blur(&i, &o, &t);
  printf("two outputs %d: %d %d, supports %d\n", code, out[2][3], total[0], night_supports("blur", extents));
}

int main(int count, char** arguments) {
  night_opts options = {0};
  int loops = 0;
  options.size = sizeof options;
  options.threads = 3;
  options.fallback = NIGHT_FALLBACK_ALLOW;
  options.calls_path = count > 1 ? arguments[1] : NULL;
  if (night_abi_version() != NIGHT_ABI || night_load(&options) != 0) return 1;
  printf("threads %d\n", night_threads());
  all_tiers();
  eight_threads();
  pointwise();
  two_outputs();
  if (night_unload() != 0) printf("%s\n", night_last_error());
  options.calls_path = NULL;
  options.parallel_for = backwards;
  options.parallel_for_user = &loops;
  if (night_load(&options) != 0) return 1;
  const int tier = try_matmul(64, 64, 32, 0, 0);
  printf("own parallel loop %d, used %d\n", tier, loops > 0);
  return night_unload() != 0;
}
