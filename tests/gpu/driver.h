// The CUDA driver, loaded at run time: as much of it as the tests need, with declarations of our own, so that they build without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kiln::gpu {

using Status = int;  // CUresult: 0 is success
using Address = std::uint64_t;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;

// CUlaunchAttribute: the only one that is used is programmatic stream serialization.
struct LaunchAttribute {
  int id = 6;
  char pad[4] = {};
  union {
    char bytes[64];
    int is_allowed;
  } value = {};
};
// CUlaunchConfig.
struct LaunchShape {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1, threads_x = 1, threads_y = 1, threads_z = 1, shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

struct Driver {
  Status (*error_string)(Status, const char** text);
  Status (*load)(Module*, const void* cubin);
  Status (*function)(Function*, Module, const char* name);
  Status (*parameter)(Function, std::size_t index, std::size_t* offset, std::size_t* bytes);
  Status (*set_attribute)(Function, int attribute, int value);
  Status (*allocate)(Address*, std::size_t bytes);
  Status (*free)(Address);
  Status (*to_device)(Address, const void*, std::size_t bytes);
  Status (*to_host)(void*, Address, std::size_t bytes);
  Status (*create_stream)(Stream*, unsigned flags);
  Status (*launch)(const LaunchShape*, Function, void** arguments, void** extra);
  Status (*query)(Stream);
  Status (*encode_tiled)(void* map, int type, unsigned rank, void* base, const std::uint64_t* extents, const std::uint64_t* pitches, const std::uint32_t* box,
                         const std::uint32_t* steps, int interleave, int swizzle, int l2_promotion, int fill);
  std::string device;  // its name
  Stream stream;

  void check(Status status, const char* what) const;  // throws std::runtime_error with the driver's words
};

// The driver with the primary context of device 0 current. Throws Missing where there is no driver or no device of compute capability 9.0, for which
// sm_90a code is made.
const Driver& driver();

}  // namespace kiln::gpu
