// Kernels of a cubin, ready to be launched.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "generators/cuda/driver/open_device.h"

namespace kiln::generators::cuda::driver {

// How a kernel is launched. Blocks and threads are counted along x alone.
struct Launch {
  unsigned grid = 1;          // blocks, a multiple of the cluster
  unsigned cluster = 1;       // blocks of a cluster
  unsigned threads = 128;     // of a block
  unsigned shared_bytes = 0;  // dynamic
  bool is_dependent = false;  // may begin before the kernel ahead of it in the stream has ended: it waits itself (griddepcontrol.wait)
};

// The same as cuLaunchKernelEx takes it.
class LaunchCall {
 public:
  LaunchCall(const Launch& launch, CuStream stream);
  LaunchCall(const LaunchCall&) = delete;
  LaunchCall& operator=(const LaunchCall&) = delete;
  const LaunchShape* shape() const { return &shape_; }

 private:
  LaunchAttribute attributes_[2];
  LaunchShape shape_;
};

// What cuFuncGetAttribute tells of a compiled kernel.
struct KernelFacts {
  int registers = 0;             // of a thread at its launch
  int local_bytes = 0;           // of a thread: stack and spills
  int shared_bytes = 0;          // static
  int constant_bytes = 0;
  int most_threads = 0;          // of a block, with these registers
  int binary_version = 0;        // 90 for sm_90 and sm_90a
  bool operator==(const KernelFacts&) const = default;
};

class Kernel {
 public:
  KernelFacts facts() const;

  // The parameters' sizes, in their order.
  std::vector<std::size_t> parameter_bytes() const;

  // Lets launches ask for so much dynamic shared memory; without it 48 KiB is the most.
  void allow_shared_bytes(int bytes) const;

  // How many blocks an SM holds at once, how many clusters the device does, as the driver counts.
  int blocks_per_sm(int threads, std::size_t shared_bytes) const;
  int clusters_at_once(const Launch& launch) const;

  const std::string& name() const { return name_; }
  CuFunction function() const { return function_; }
  const OpenDevice& device() const { return device_; }

 private:
  friend class LoadedCubin;
  Kernel(const OpenDevice& device, std::shared_ptr<CUlib_st> library, std::string name);
  int attribute(int number) const;

  OpenDevice device_;
  std::shared_ptr<CUlib_st> library_;
  std::string name_;
  CuFunction function_ = nullptr;
};

// Unloaded when this value and all kernels of it are gone.
class LoadedCubin {
 public:
  // `cubin` is a whole ELF image: the driver is given no length. Throws DriverError, as for a cubin of another architecture.
  LoadedCubin(const OpenDevice& device, std::string_view cubin);

  // Throws DriverError with the name when there is none.
  Kernel kernel(const std::string& name) const { return Kernel(device_, library_, name); }

 private:
  OpenDevice device_;
  std::shared_ptr<CUlib_st> library_;
};

}  // namespace kiln::generators::cuda::driver
