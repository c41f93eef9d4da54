// The GPU as the measuring worker sees it.
#pragma once

#include <memory>
#include <string>

#include "autotune/measure/protocol.h"
#include "autotune/measure/shared_page.h"
#include "autotune/worker/measured_device.h"
#include "generators/cuda/driver/stream.h"

namespace kiln::autotune {

class GpuDevice : public MeasuredDevice {
 public:
  // `protocol` and `page` must outlive the value. Throws EnvironmentError without a driver or without such a device.
  GpuDevice(int ordinal, const Protocol& protocol, SharedPage& page);

  const Device& facts() const { return facts_; }

  std::unique_ptr<LoadedCandidate> load(const ObjectRef& object, const Objects& objects) override;
  std::unique_ptr<CallRotation> rotation(const Algorithm& algorithm, const Inputs& inputs) override;
  std::string find_health_complaint() override;

 private:
  generators::cuda::driver::Driver driver_;
  generators::cuda::driver::OpenDevice device_;
  generators::cuda::driver::Stream stream_;
  Device facts_;
  const Protocol& protocol_;
  SharedPage& page_;
};

}  // namespace kiln::autotune
