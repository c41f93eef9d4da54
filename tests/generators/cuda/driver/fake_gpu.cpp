// The tests' driver as a whole GPU that knows one operator: `swiglu` in f32, computed where it is launched. What happens beside is in the environment:
//   KILN_FAKE_WRONG=T  blocks of T threads leave out the last element
//   KILN_FAKE_CRASH=T  blocks of T threads end the process
//   KILN_FAKE_HANG=T   blocks of T threads never end
//   KILN_FAKE_ARCH=MN  the device has compute capability M.N
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "generators/cuda/driver/api.h"

using namespace kiln::generators::cuda::driver;

extern void (*fake_kernel)(const std::string& name, const LaunchShape& shape, void** parameters);
extern "C" void fake_attribute(int attribute, int value);

namespace {

int number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? -1 : std::atoi(text);
}

bool is_meant(const char* name, const LaunchShape& shape) { return number(name) == static_cast<int>(shape.threads[0]); }

float gate(float x) { return x / (1 + std::exp(-x)); }

// In one kernel, or the gate in one before.
void swiglu(const std::string& name, const LaunchShape& shape, void** parameters) {
  static const float* gates = nullptr;
  if (is_meant("KILN_FAKE_CRASH", shape)) ::raise(SIGSEGV);
  while (is_meant("KILN_FAKE_HANG", shape)) ::pause();
  const auto buffer = [&](int i) { return *static_cast<float**>(parameters[i]); };
  const bool is_first_of_two = name == "swiglu_gate";
  std::int64_t elements = *static_cast<std::int64_t*>(parameters[is_first_of_two ? 2 : 3]);
  if (is_meant("KILN_FAKE_WRONG", shape)) --elements;
  if (is_first_of_two) gates = buffer(1);
  for (std::int64_t i = 0; i < elements; ++i) {
    if (is_first_of_two) buffer(1)[i] = gate(buffer(0)[i]);
    else buffer(2)[i] = (buffer(0) == gates ? gates[i] : gate(buffer(0)[i])) * buffer(1)[i];
  }
}

const bool is_set_up = [] {
  fake_kernel = swiglu;
  if (const int arch = number("KILN_FAKE_ARCH"); arch > 0) {
    fake_attribute(75, arch / 10);
    fake_attribute(76, arch % 10);
  }
  return true;
}();

}  // namespace
