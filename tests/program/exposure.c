/* Calls the exported `exposure` on the extents it was tuned for and on others, and compares with plain loops. Prints the tier that served each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "night.h"

enum { kBins = 64 };

static DLTensor tensor(void* bytes, DLDataTypeCode code, int bits, int rank, int64_t* shape) {
  DLTensor t;
  memset(&t, 0, sizeof t);
  t.data = bytes;
  t.device.device_type = kDLCPU;
  t.ndim = rank;
  t.dtype.code = (uint8_t)code;
  t.dtype.bits = (uint8_t)bits;
  t.dtype.lanes = 1;
  t.shape = shape;
  return t;
}

static int is_right(const uint8_t* picture, float gain, const float* bright, const uint32_t* histogram, int pixels) {
  uint32_t counted[kBins] = {0};
  for (int i = 0; i < 3 * pixels; ++i) {
    const float wanted = fminf((float)picture[i] / 255.0f * gain, 1.0f);
    if (fabsf(bright[i] - wanted) > 1e-6f) return 0;
  }
  for (int i = 0; i < pixels; ++i) {
    const int luma = (picture[i] + 2 * picture[pixels + i] + picture[2 * pixels + i]) / 4;
    if (luma > 0) ++counted[luma * kBins / 256];
  }
  return memcmp(counted, histogram, sizeof counted) == 0;
}

static void call(int width, int height) {
  const int pixels = width * height;
  int64_t shape[] = {3, height, width}, bins[] = {kBins};
  uint8_t* picture = malloc((size_t)(3 * pixels));
  float* bright = malloc((size_t)(3 * pixels) * sizeof *bright);
  uint32_t histogram[kBins];
  for (int i = 0; i < 3 * pixels; ++i) picture[i] = (uint8_t)(i % 7 == 0 ? 0 : i * 37 % 256);
  memset(bright, 0xff, (size_t)(3 * pixels) * sizeof *bright);
  memset(histogram, 0xff, sizeof histogram);
  DLTensor in = tensor(picture, kDLUInt, 8, 3, shape), out = tensor(bright, kDLFloat, 32, 3, shape), counts = tensor(histogram, kDLUInt, 32, 1, bins);
  night_plan plan;
  int code = night_exposure_plan(&in, &out, &counts, &plan);
  if (code == 0) code = night_exposure_run(&plan, picture, 2.25f, bright, histogram);
  if (code != 0) printf("%d x %d: %d %s\n", width, height, code, night_last_error());
  else printf("%d x %d: tier %d, %s\n", width, height, plan.tier, is_right(picture, 2.25f, bright, histogram, pixels) ? "right" : "wrong");
  free(picture);
  free(bright);
}

int main(void) {
  night_opts options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.fallback = NIGHT_FALLBACK_ALLOW;
  if (night_load(&options) != 0) return 1;
  call(160, 96);
  call(37, 21);
  return night_unload() == 0 ? 0 : 1;
}
