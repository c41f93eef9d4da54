// The probe: what a device of this machine is, and in what state the machine is.
#include "autotune/probe.h"
#include "autotune/worker/serve.h"
#include "generators/cuda/driver/driver.h"
#include "generators/host/host.h"
#include "schedules/devices.h"

namespace kiln::autotune {
namespace {

Device find(const std::string& name) {
  const std::optional<int> ordinal = gpu_ordinal(name);
  return ordinal ? schedules::with_data_sheet(generators::cuda::driver::Driver::load().device(*ordinal)) : generators::host::probe_cpu();
}

}  // namespace

int run_probe_role(Channel& channel) {
  return serve(channel, {{"probe", [](const Json& body, const Answer& answer) {
                            const Device device = find(body.at("device").get<std::string>());
                            answer.send("probe", to_json(Probe{device, generators::host::host_beside(device).cores, read_conditions()}));
                          }}});
}

}  // namespace kiln::autotune
