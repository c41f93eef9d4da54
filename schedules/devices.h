// Devices by name, with sourced limits: to draw spaces and check schedules for machines that are not at hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsl/device.h"

namespace kiln::schedules {

struct NamedDevice {
  std::string name;
  std::string source;  // where the numbers are from
  Device device;
};

// Sorted by name.
const std::vector<NamedDevice>& named_devices();

// Throws UsageError listing the names there are.
const Device& device_named(const std::string& name);

}  // namespace kiln::schedules
