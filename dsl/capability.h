// Which instructions a GPU has, where kernels and spaces differ by it: CUDA's compute capability.
#pragma once

#include <compare>
#include <string>

#include "dsl/device.h"

namespace kiln {

struct Capability {
  int major = 0, minor = 0;
  auto operator<=>(const Capability&) const = default;
};

// The least that has them. PTX ISA 9.0, "Target ISA Notes" of griddepcontrol, of barrier.cluster and mapa, and of cvt to .e4m3x2.
inline constexpr Capability kGridDependencies{9, 0}, kClusters{9, 0}, kConversionToE4M3{8, 9};

// Of it alone: the PTX ISA has wgmma for sm_90a and for no other target.
inline constexpr Capability kWgmma{9, 0};

inline Capability capability_of(const Gpu& gpu) { return {gpu.capability_major, gpu.capability_minor}; }

inline std::string print(const Capability& capability) { return std::to_string(capability.major) + "." + std::to_string(capability.minor); }

}  // namespace kiln
