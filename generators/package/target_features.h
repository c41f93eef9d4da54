// From the target string an object was compiled for to the CPU features its guard asks for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::generators::package {

// Bits of runtime/set_cpu.h. Throws DataError for a target that is not x86-64 Linux without runtime, or names a feature we cannot guard.
std::uint64_t required_features(const std::string& target);

// "cuda-sm_90a": what its kernels run on.
struct GpuTarget {
  std::string arch;  // "sm_90a"
  int major = 0, minor = 0;
  bool is_of_one_capability = false;  // an `a` target runs on no other minor
};
// Throws DataError for another target.
GpuTarget gpu_target(const std::string& target);

// The same as names of set_cpu.h, in bit order: "AVX2".
std::vector<std::string> feature_names(std::uint64_t features);

// Every CPU of the last fifteen years: what a generic variant may need.
std::uint64_t x86_64_v2_features();

}  // namespace kiln::generators::package
