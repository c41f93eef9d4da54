// One program of an operator on the device, beside what it should compute: the reference's results, its own of another call, the emulator's.
#pragma once

#include <string>

#include "device_program.h"
#include "tests/generators/cuda/stream/emulated_subject.h"
#include "tests/generators/cuda/stream/oracle.h"

namespace kiln::gpu {

class DeviceSubject {
 public:
  // Throws Missing where there is no device or no NVRTC.
  DeviceSubject(const std::string& problem, const std::string& schedule);

  // As lowered.
  const generators::cuda::LaunchRecord& record() const { return device_.record(); }

  // All of these: empty when nothing goes wrong and the results are what they should be.
  std::string difference_from_reference() const { return difference_from_reference(device_); }
  std::string difference_from_reference(const generators::cuda::LaunchRecord& record) const;  // launched so
  std::string difference_between_calls(int repeats) const;  // bit for bit
  // Within what each may be off. Prints how many bytes differ after `name`. Throws emulator::CompilerMissing.
  std::string difference_from_emulator(const std::string& name) const;

 private:
  std::string difference_from_reference(const DeviceProgram& program) const;

  const tests::Oracle& oracle_;
  tests::EmulatedSubject subject_;
  generators::cuda::Program program_;
  DeviceProgram device_;
};

}  // namespace kiln::gpu
