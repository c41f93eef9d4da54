// Devices by name, with sourced limits: to draw spaces and check schedules for machines that are not at hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsl/device.h"

namespace kiln::schedules {

struct NamedDevice {
  std::string name;
  std::string source;                 // where the numbers are from
  Device device;
  std::vector<std::string> aliases;   // a GPU's architecture stands for the one of its devices that has least
};

// Sorted by name.
const std::vector<NamedDevice>& named_devices();

// By name or alias; null when there is none.
const NamedDevice* find_device(const std::string& name);

// The GPU of that model, as its driver calls it; null when none has a name.
const NamedDevice* find_gpu_model(const std::string& model);

// Throws UsageError listing the names there are.
const Device& device_named(const std::string& name);

// A GPU as its driver describes it, with the data sheet's numbers of the named device of the same model, when there is one. Identity and limits stay.
Device with_data_sheet(Device device);

}  // namespace kiln::schedules
