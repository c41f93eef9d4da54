/* Calls every function of the set `night` on random numbers and checks each result against sums in double precision. */
#include <math.h>
#include <night.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A row-major matrix of floats as the set wants to see it. */
typedef struct {
  float* values;
  int64_t shape[2];
  DLTensor view;
} matrix;

static void make(matrix* x, int64_t rows, int64_t columns) {
  x->values = aligned_alloc(64, ((size_t)(rows * columns) * sizeof(float) + 63) / 64 * 64);
  if (x->values == NULL) exit(2);
  x->shape[0] = rows;
  x->shape[1] = columns;
  for (int64_t i = 0; i < rows * columns; ++i) x->values[i] = (float)rand() / (float)RAND_MAX * 2 - 1;
  x->view = (DLTensor){.data = x->values, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = x->shape};
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double silu(double x) { return x / (1 + exp(-x)); }

/* 1 when `got` is within what float arithmetic over `terms` products of numbers below 1 may be off. */
static int is_close(double got, double expected, int64_t terms) { return fabs(got - expected) <= 1e-6 * sqrt((double)terms) * (1 + fabs(expected)); }

static int report(const char* what, int code, int64_t wrong, double ms) {
  if (code != 0) {
    printf("%-34s refused with %d: %s\n", what, code, night_last_error());
    return 1;
  }
  printf("%-34s %8.3f ms  %s\n", what, ms, wrong == 0 ? "right" : "WRONG");
  return wrong != 0;
}

static int check_matmul(int64_t m, int64_t n, int64_t k) {
  matrix a, b, c;
  make(&a, m, k);
  make(&b, k, n);
  make(&c, m, n);
  int code = night_matmul(&a.view, &b.view, &c.view); /* the first call warms threads and scratch */
  const double start = seconds();
  if (code == 0) code = night_matmul(&a.view, &b.view, &c.view);
  const double ms = 1e3 * (seconds() - start);
  int64_t wrong = 0;
  for (int64_t i = 0; code == 0 && i < m; i += 1 + m / 16)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += (double)a.values[i * k + l] * b.values[l * n + j];
      wrong += !is_close(c.values[i * n + j], silu(sum), k);
    }
  char what[64];
  snprintf(what, sizeof what, "matmul+silu %lldx%lldx%lld", (long long)m, (long long)n, (long long)k);
  free(a.values), free(b.values), free(c.values);
  return report(what, code, wrong, ms);
}

static int check_swiglu(int64_t m, int64_t n) {
  matrix g, u, y;
  make(&g, m, n);
  make(&u, m, n);
  make(&y, m, n);
  int code = night_swiglu(&g.view, &u.view, &y.view);
  const double start = seconds();
  if (code == 0) code = night_swiglu(&g.view, &u.view, &y.view);
  const double ms = 1e3 * (seconds() - start);
  int64_t wrong = 0;
  for (int64_t i = 0; code == 0 && i < m * n; ++i) wrong += !is_close(y.values[i], silu(g.values[i]) * u.values[i], 1);
  char what[64];
  snprintf(what, sizeof what, "swiglu %lldx%lld", (long long)m, (long long)n);
  free(g.values), free(u.values), free(y.values);
  return report(what, code, wrong, ms);
}

int main(int argc, char** argv) {
  const night_opts opts = {.size = sizeof opts, .fallback = NIGHT_FALLBACK_ALLOW};
  if (night_load(&opts) != 0) {
    printf("load: %s\n", night_last_error());
    return 1;
  }
  int failures = check_matmul(256, 1024, 1024);
  failures += check_matmul(1536, 1024, 1024);
  failures += check_matmul(1, 1024, 1024);
  failures += check_matmul(77, 515, 333); /* nobody tuned this one: the generic variant serves it */
  failures += check_swiglu(256, 4096);
  if (argc > 1 && night_dump_calls(argv[1]) != 0) {
    printf("call counts: %s\n", night_last_error());
    ++failures;
  }
  night_unload();
  printf(failures == 0 ? "all results are right\n" : "%d of 5 calls failed\n", failures);
  return failures != 0;
}
