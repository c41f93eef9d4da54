/* After one call of a plan, run asks nothing of the system: here the kernel ends the process at the first system call but read, write and exit. */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "night.h"

enum { kSkipped = 77 };

static _Alignas(64) float a[64 * 32], b[32 * 64], c[64 * 64];

static DLTensor matrix(float* data, int64_t* shape) {
  DLTensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.device.device_type = kDLCPU;
  t.ndim = 2;
  t.dtype.code = kDLFloat;
  t.dtype.bits = 32;
  t.dtype.lanes = 1;
  t.shape = shape;
  return t;
}

int main(void) {
  int64_t as[] = {64, 32}, bs[] = {32, 64}, cs[] = {64, 64};
  DLTensor av = matrix(a, as), bv = matrix(b, bs), cv = matrix(c, cs);
  night_opts options = {0};
  night_plan plan;
  options.size = sizeof options;
  options.threads = 1;
  int failures = night_load(&options) != 0 || night_matmul_plan(&av, &bv, &cv, &plan) != 0 || night_matmul_run(&plan, a, b, c) != 0;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return kSkipped;
  for (int i = 0; i < 1000; ++i) {
    failures += night_matmul_run(&plan, a, b, c) != 0;
    failures += night_matmul(&av, &bv, &cv) != 0;
  }
  syscall(SYS_exit, failures != 0); /* exit_group is not among the calls allowed */
  return 1;
}
