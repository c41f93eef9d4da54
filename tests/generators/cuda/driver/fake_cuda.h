// What the fake driver tells of itself, beside CUDA's own functions.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <vector>

#include "generators/cuda/driver/driver.h"

namespace kiln::generators::cuda::driver {

// The library that Driver::load(KILN_FAKE_CUDA) opens too. Each test begins with a new one: nothing failing, nothing written down.
class FakeCuda {
 public:
  FakeCuda() : library_(dlopen(KILN_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL)) { function<void (*)()>("fake_reset")(); }

  Driver driver() const { return Driver::load(KILN_FAKE_CUDA); }

  // The calls since the last time that it was asked, each with what matters of its arguments: "cuMemAlloc 64; cuMemFree".
  std::string calls() const { return function<const char* (*)()>("fake_calls")(); }

  // This function answers with `status` from now on, by its name without _v2.
  void fail(const char* name, Status status) const { function<void (*)(const char*, int)>("fake_fail")(name, status); }

  // Time: what a call of this function takes of the host, what passes between two events (one value after the other, and again), the SMs' clock.
  void cost(const char* name, std::int64_t ns) const { function<void (*)(const char*, std::int64_t)>("fake_cost")(name, ns); }
  std::int64_t now() const { return function<std::int64_t (*)()>("fake_now")(); }
  void elapsed(const std::vector<float>& ms) const { function<void (*)(const float*, std::size_t)>("fake_elapsed")(ms.data(), ms.size()); }
  void sm_mhz(std::uint64_t mhz) const { function<void (*)(std::uint64_t)>("fake_sm_mhz")(mhz); }

  void set_attribute(int attribute, int value) const { function<void (*)(int, int)>("fake_attribute")(attribute, value); }

 private:
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  void* library_;
};

}  // namespace kiln::generators::cuda::driver
