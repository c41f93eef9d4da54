// A kernel on the device, run as the emulator runs it: over the same memory, with the same arguments.
#pragma once

#include <string>

#include "generators/cuda/driver/kernel.h"
#include "generators/cuda/emulator/launch.h"

namespace kiln::gpu {

class DeviceKernel {
 public:
  DeviceKernel(const std::string& text, const std::string& kernel);

  // Copies the buffers to the device, addresses and tensor maps in the arguments with them, launches, waits and copies back. What a kernel does not write
  // stays as it was: 0xFF in an output. The x of a dependent launch is written by a kernel before, late. The kinds of fault: "device error",
  // "input written". A kernel that has not ended after ten seconds ends the process.
  generators::cuda::emulator::Report run(const generators::cuda::emulator::Launch& launch, generators::cuda::emulator::Memory& memory, void** arguments) const;

 private:
  generators::cuda::driver::Kernel kernel_;
};

}  // namespace kiln::gpu
