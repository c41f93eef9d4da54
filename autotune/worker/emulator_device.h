// The emulator in a GPU's place: candidates are texts, and are checked, not timed.
#pragma once

#include <memory>
#include <string>

#include "autotune/worker/measured_device.h"

namespace kiln::autotune {

class EmulatorDevice : public MeasuredDevice {
 public:
  // Also throws EnvironmentError where there is no C++ compiler.
  std::unique_ptr<LoadedCandidate> load(const ObjectRef& object, const Objects& objects) override;
  std::unique_ptr<CallRotation> rotation(const Algorithm& algorithm, const Inputs& inputs) override;
  std::string find_health_complaint() override { return {}; }  // it is a program of ours
};

}  // namespace kiln::autotune
