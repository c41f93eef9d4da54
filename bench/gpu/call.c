/* The set `streams` called from C: rmsnorm of 64 rows of 4096, on a stream of its own and captured into a CUDA graph, against the formula in double. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <streams.h>

/* As much of the driver as is used; linked as libcuda.so.1. */
typedef struct CUctx_st* CUcontext;
typedef struct CUstream_st* CUstream;
typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphExec_st* CUgraphExec;
int cuInit(unsigned), cuDeviceGet(int*, int), cuDevicePrimaryCtxRetain(CUcontext*, int), cuCtxSetCurrent(CUcontext);
int cuMemAlloc_v2(uint64_t*, size_t), cuMemcpyHtoD_v2(uint64_t, const void*, size_t), cuMemcpyDtoH_v2(void*, uint64_t, size_t), cuMemsetD8_v2(uint64_t, unsigned char, size_t);
int cuStreamCreate(CUstream*, unsigned), cuStreamSynchronize(CUstream), cuStreamBeginCapture_v2(CUstream, int), cuStreamEndCapture(CUstream, CUgraph*);
int cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long), cuGraphLaunch(CUgraphExec, CUstream);

enum { M = 64, N = 4096, kNonBlocking = 1, kThreadLocal = 1 };
static const float kEps = 1e-5f;

static void must(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "call: %s: %d\n", what, status);
  exit(1);
}
#define DRIVER(call) must(call, #call)

static void served(int code) {
  if (code == 0) return;
  fprintf(stderr, "call: %s\n", streams_last_error());
  exit(1);
}

static float widened(uint16_t bits) {
  const uint32_t word = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

/* Around zero, in bf16: the upper half of a float's bits. */
static uint16_t drawn(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  const float value = (float)((double)(*state >> 40) / (1 << 23) - 1);
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return (uint16_t)(word >> 16);
}

static uint16_t x[M][N], gamma_[N], direct[M][N], replayed[M][N];

static double worst_error(void) {
  double worst = 0;
  for (int m = 0; m < M; ++m) {
    double squares = 0;
    for (int n = 0; n < N; ++n) squares += (double)widened(x[m][n]) * widened(x[m][n]);
    const double scale = 1 / sqrt(squares / N + kEps);
    for (int n = 0; n < N; ++n) {
      const double exact = widened(x[m][n]) * scale * widened(gamma_[n]), error = fabs(widened(direct[m][n]) - exact) / fmax(fabs(exact), 1e-3);
      if (!(error <= worst)) worst = error; /* a NaN stays */
    }
  }
  return worst;
}

static uint64_t device_memory(size_t bytes) {
  uint64_t address = 0;
  DRIVER(cuMemAlloc_v2(&address, bytes));
  return address;
}

int main(void) {
  int device;
  CUcontext context;
  CUstream stream;
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  DRIVER(cuStreamCreate(&stream, kNonBlocking));

  uint64_t state = 1;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) x[m][n] = drawn(&state);
  for (int n = 0; n < N; ++n) gamma_[n] = drawn(&state);
  const uint64_t at_x = device_memory(sizeof x), at_gamma = device_memory(sizeof gamma_), at_y = device_memory(sizeof direct);
  DRIVER(cuMemcpyHtoD_v2(at_x, x, sizeof x));
  DRIVER(cuMemcpyHtoD_v2(at_gamma, gamma_, sizeof gamma_));

  served(streams_load(NULL));
  served(streams_load_device(0));
  int64_t matrix[2] = {M, N}, row[1] = {N};
  const DLTensor view_x = {.data = (void*)at_x, .device = {kDLCUDA, 0}, .ndim = 2, .dtype = {kDLBfloat, 16, 1}, .shape = matrix};
  DLTensor view_gamma = view_x, view_y = view_x;
  view_gamma.data = (void*)at_gamma;
  view_gamma.ndim = 1;
  view_gamma.shape = row;
  view_y.data = (void*)at_y;
  streams_plan plan;
  served(streams_rmsnorm_plan(&view_x, &view_gamma, &view_y, &plan));
  void* const workspace = plan.workspace_bytes ? (void*)device_memory(plan.workspace_bytes) : NULL;

  DRIVER(cuMemsetD8_v2(at_y, 0xff, sizeof direct));
  served(streams_rmsnorm_run(&plan, view_x.data, view_gamma.data, kEps, view_y.data, workspace, plan.workspace_bytes, stream));
  DRIVER(cuStreamSynchronize(stream));
  DRIVER(cuMemcpyDtoH_v2(direct, at_y, sizeof direct));

  CUgraph graph;
  CUgraphExec executable;
  DRIVER(cuStreamBeginCapture_v2(stream, kThreadLocal));
  served(streams_rmsnorm_run(&plan, view_x.data, view_gamma.data, kEps, view_y.data, workspace, plan.workspace_bytes, stream));
  DRIVER(cuStreamEndCapture(stream, &graph));
  DRIVER(cuGraphInstantiateWithFlags(&executable, graph, 0));
  DRIVER(cuMemsetD8_v2(at_y, 0xff, sizeof direct));
  DRIVER(cuGraphLaunch(executable, stream));
  DRIVER(cuStreamSynchronize(stream));
  DRIVER(cuMemcpyDtoH_v2(replayed, at_y, sizeof replayed));

  const double worst = worst_error();
  const int same = memcmp(direct, replayed, sizeof direct) == 0;
  printf("from C: rmsnorm(m=%d, n=%d, bf16), variant %d: worst error %.2g (2^-8 is bf16's rounding), graph %s\n", M, N, plan.variant, worst, same ? "equal bit for bit" : "DIFFERS");
  served(streams_unload());
  return same && worst <= 1.0 / 128 ? 0 : 1;
}
