// Calls the library and compares it with the plain loops.
#include <HalideBuffer.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "smooth.h"

int main() {
  const int width = 512, height = 256;
  Halide::Runtime::Buffer<float> input(width, height), output(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) input(x, y) = static_cast<float>((7 * x + 13 * y) % 101);
  if (const int code = smooth(input, output)) return std::printf("smooth answers %d\n", code), 1;
  const auto at = [&](int x, int y) { return input(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1)); };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int dy = -1; dy <= 1; ++dy) sum += at(x - 1, std::clamp(y + dy, 0, height - 1)) + at(x, y + dy) + at(x + 1, y + dy);
      if (std::abs(sum - output(x, y)) > 1e-3f) return std::printf("%g at %d, %d; %g is right\n", output(x, y), x, y, sum), 1;
    }
  std::printf("right\n");
  return 0;
}
