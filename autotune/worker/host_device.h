// This machine's processor as the measuring worker sees it.
#pragma once

#include <memory>
#include <string>

#include "autotune/measure/protocol.h"
#include "autotune/measure/shared_page.h"
#include "autotune/worker/measured_device.h"
#include "dsl/device.h"

namespace kiln::autotune {

class HostDevice : public MeasuredDevice {
 public:
  // `protocol` and `page` must outlive the value.
  HostDevice(const Device& facts, const Protocol& protocol, SharedPage& page) : last_level_bytes_(facts.l3_bytes), protocol_(protocol), page_(page) {}

  std::unique_ptr<LoadedCandidate> load(const ObjectRef& object, const Objects& objects) override;
  std::unique_ptr<CallRotation> rotation(const Algorithm& algorithm, const Inputs& inputs) override;
  std::string find_health_complaint() override;  // on every thread of the protocol's

 private:
  std::int64_t last_level_bytes_;
  const Protocol& protocol_;
  SharedPage& page_;
};

}  // namespace kiln::autotune
