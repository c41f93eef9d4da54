// `kiln list`: operators with what a problem of theirs may say, shipped spaces, devices.
#pragma once

#include <string>
#include <vector>

#include "dsl/device.h"
#include "dsl/read_algorithm.h"
#include "schedules/spaces.h"

namespace kiln::autotune::cli {

std::string print_operators(const std::vector<OperatorSignature>& operators, bool colour);
std::string operators_json(const std::vector<OperatorSignature>& operators);

std::string print_spaces(const std::vector<schedules::ShippedSpace>& spaces, bool colour);
std::string spaces_json(const std::vector<schedules::ShippedSpace>& spaces);

struct KnownDevice {
  std::string digest, model;
  Device device;
  bool is_here = false;            // this machine
  bool has_results = false;        // the store has results of it
  std::vector<std::string> names;  // that a flag may say for it
};
// This machine first, then the devices of the store at `db_path`, when there is one, then those of schedules/devices that are neither.
std::vector<KnownDevice> known_devices(const Device& here, const std::string& db_path);
// CPUs and GPUs in a table each.
std::string print_devices(const std::vector<KnownDevice>& devices, bool colour);
std::string devices_json(const std::vector<KnownDevice>& devices);

}  // namespace kiln::autotune::cli
