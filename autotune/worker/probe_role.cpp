// The probe: what a device of this machine is, and in what state the machine is.
#include <charconv>

#include <fmt/format.h>

#include "autotune/probe.h"
#include "autotune/worker/serve.h"
#include "dsl/error.h"
#include "generators/cuda/driver/driver.h"
#include "generators/host/host.h"
#include "schedules/devices.h"

namespace kiln::autotune {
namespace {

// "cuda:1": 1; "cuda": 0.
int ordinal_of(const std::string& name) {
  constexpr std::string_view kCuda = "cuda";
  int ordinal = 0;
  if (name == kCuda) return ordinal;
  const std::string_view digits = std::string_view(name).substr(std::min(name.size(), kCuda.size() + 1));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (!name.starts_with("cuda:") || error != std::errc{} || end != digits.data() + digits.size() || ordinal < 0)
    throw UsageError(fmt::format("device {}: what can be measured on is `cpu` or `cuda:0` and so on", name));
  return ordinal;
}

Device find(const std::string& name, const Device& host) {
  if (name == "cpu") return host;
  const int ordinal = ordinal_of(name);
  return schedules::with_data_sheet(generators::cuda::driver::Driver::load().device(ordinal));
}

}  // namespace

int run_probe_role(Channel& channel) {
  return serve(channel, {{"probe", [](const Json& body, const Answer& answer) {
                            const Device host = generators::host::probe_cpu();
                            answer.send("probe", to_json(Probe{find(body.at("device").get<std::string>(), host), host.cores, read_conditions()}));
                          }}});
}

}  // namespace kiln::autotune
