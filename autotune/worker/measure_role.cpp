// The measuring worker of a program that has all kinds of devices.
#include "autotune/worker/emulator_device.h"
#include "autotune/worker/gpu_device.h"
#include "autotune/worker/host_device.h"
#include "autotune/worker/measuring_worker.h"
#include "autotune/worker/serve.h"

namespace kiln::autotune {
namespace {

std::unique_ptr<MeasuredDevice> open(const MeasuredRequest& request) {
  if (request.runs_on == RunsOn::emulator) return std::make_unique<EmulatorDevice>();
  if (request.facts.gpu) return open_gpu(request);
  return std::make_unique<HostDevice>(request.facts, request.protocol, request.page);
}

}  // namespace

int run_measure_role(Channel& channel) { return serve_measuring(channel, open); }

}  // namespace kiln::autotune
