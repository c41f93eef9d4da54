// The GPU as the measuring worker sees it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "autotune/measure/protocol.h"
#include "autotune/measure/shared_page.h"
#include "autotune/worker/gpu_memory.h"
#include "autotune/worker/measured_device.h"
#include "autotune/worker/measuring_worker.h"
#include "generators/cuda/driver/stream.h"

namespace kiln::autotune {

class GpuDevice : public MeasuredDevice {
 public:
  // `protocol` and `page` must outlive the value. Throws EnvironmentError without a driver, or where no device here is the one of `facts`.
  GpuDevice(const Device& facts, const Protocol& protocol, SharedPage& page);

  std::unique_ptr<LoadedCandidate> load(const ObjectRef& object, const Objects& objects) override;
  std::unique_ptr<CallRotation> rotation(const Algorithm& algorithm, const Inputs& inputs) override;
  std::string find_health_complaint() override;

  // The inputs on the device, uploaded when they are first asked for.
  std::shared_ptr<const GpuOriginals> originals(const Algorithm& algorithm, const Inputs& inputs);

 private:
  generators::cuda::driver::Driver driver_;
  generators::cuda::driver::OpenDevice device_;
  generators::cuda::driver::Stream stream_;
  std::int64_t l2_bytes_;
  std::list<std::pair<std::uint64_t, std::shared_ptr<const GpuOriginals>>> originals_;  // by Inputs::serial, the last used first
  const Protocol& protocol_;
  SharedPage& page_;
};

// Throws EnvironmentError for a device that fails although nothing was run on it yet: no candidate's doing.
std::unique_ptr<MeasuredDevice> open_gpu(const MeasuredRequest& request);

}  // namespace kiln::autotune
