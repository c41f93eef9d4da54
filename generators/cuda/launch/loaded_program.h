// A program's kernels on a device, and calls of it: a launch record bound to buffers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "generators/cuda/driver/stream.h"
#include "generators/cuda/driver/memory.h"
#include "generators/cuda/launch_record.h"

namespace kiln::generators::cuda {

class LoadedProgram {
 public:
  // Throws driver::DriverError for a cubin that the device does not take or that lacks a kernel of the record.
  LoadedProgram(const driver::OpenDevice& device, std::string_view cubin, LaunchRecord record);

  const LaunchRecord& record() const { return record_; }
  const std::vector<driver::Kernel>& kernels() const { return kernels_; }  // as in the record
  const driver::OpenDevice& device() const { return device_; }

 private:
  driver::OpenDevice device_;
  LaunchRecord record_;
  std::vector<driver::Kernel> kernels_;
};

// What a call is given, by the arguments' names: addresses of dense buffers, the bytes of scalars, extents.
struct CallArguments {
  std::map<std::string, driver::Address> buffers;
  std::map<std::string, std::vector<std::byte>> scalars;  // eight bytes each, the value in its own type at the front
  Extents extents;
};

// One call, ready to be launched any number of times. Holds the memory of what passes between its kernels.
class BoundCall {
 public:
  // `program` must outlive the call. Throws UsageError with the guard that the extents do not satisfy, or for an address that is not aligned.
  BoundCall(const LoadedProgram& program, const CallArguments& arguments);
  BoundCall(BoundCall&&) = default;

  // All kernels, one after the other in the stream; returns at once.
  void launch(const driver::Stream& stream);

 private:
  struct Bound {
    driver::Launch launch;
    std::vector<std::vector<std::byte>> values;
    std::vector<void*> pointers;
  };
  Bound bind(const KernelLaunch& kernel, const CallArguments& arguments) const;
  driver::Address address_of(const std::string& buffer, const CallArguments& arguments) const;

  const LoadedProgram& program_;
  std::map<std::string, driver::DeviceMemory> intermediates_;
  std::vector<Bound> bound_;
};

}  // namespace kiln::generators::cuda
