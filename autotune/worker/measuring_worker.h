// The measuring worker: loads objects, checks and times them. Long-lived; everything it knows can be told to a new one.
#pragma once

#include <functional>
#include <memory>

#include "autotune/measure/protocol.h"
#include "autotune/process/channel.h"
#include "autotune/worker/measured_device.h"

namespace kiln::autotune {

// What is to be measured on. Protocol and page outlive the device.
struct MeasuredRequest {
  const Device& facts;
  const Protocol& protocol;
  SharedPage& page;
  RunsOn runs_on;
};
using OpenMeasured = std::function<std::unique_ptr<MeasuredDevice>(const MeasuredRequest&)>;

// Serves until the socket is closed; returns the process's exit code. Which kinds of devices there are is the program's to say.
int serve_measuring(Channel& channel, const OpenMeasured& open);

}  // namespace kiln::autotune
