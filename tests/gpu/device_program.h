// A program of kernels on the device, called as the emulator is: bytes in, bytes out.
#pragma once

#include <string>

#include "generators/cuda/emulated/emulated.h"
#include "generators/cuda/launch/loaded_program.h"
#include "generators/cuda/lower.h"

namespace kiln::gpu {

class DeviceProgram {
 public:
  // `record`: how it is launched. Throws Missing where there is no device or no NVRTC.
  DeviceProgram(const generators::cuda::Program& program, generators::cuda::LaunchRecord record);

  const generators::cuda::LaunchRecord& record() const { return program_.record(); }

  // What went wrong: the driver's words, or an input that was written; empty: nothing. A call that has not ended after ten seconds ends the process, and so
  // does one after which the device does nothing more for it.
  std::string run(generators::cuda::Emulated::Call& call) const;

 private:
  generators::cuda::LoadedProgram program_;
};

}  // namespace kiln::gpu
