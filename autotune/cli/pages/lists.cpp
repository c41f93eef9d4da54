#include "autotune/cli/pages/lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "autotune/cli/pages/json.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"
#include "db/identities.h"
#include "schedules/devices.h"

namespace kiln::autotune::cli {
namespace {

// "A f32[2]", "alpha f32", "→ C f32[2]".
std::string print_argument(const Argument& argument) {
  return fmt::format("{}{} {}{}", argument.is_output ? "→ " : "", argument.name, print(argument.type),
                     argument.is_scalar ? "" : fmt::format("[{}]", argument.rank));
}

std::string print_params(const OperatorSignature& signature) {
  std::string text;
  for (const auto& [name, value] : signature.default_params) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text.empty() ? "-" : text;
}

std::string print_arguments(const OperatorSignature& signature) {
  std::string text;
  for (const Argument& argument : signature.arguments) text += (text.empty() ? "" : ", ") + print_argument(argument);
  return text;
}

void add_named(std::vector<KnownDevice>& devices) {
  for (const schedules::NamedDevice& named : schedules::named_devices()) {
    const std::string hex = digest(named.device).short_hex();
    auto one = std::find_if(devices.begin(), devices.end(), [&](const KnownDevice& known) { return known.digest == hex; });
    if (one == devices.end()) one = devices.insert(devices.end(), KnownDevice{hex, named.device.model, named.device, false, false, {}});
    one->names.push_back(named.name);
    one->names.insert(one->names.end(), named.aliases.begin(), named.aliases.end());
  }
}

// "this machine, in the store", "named h100, sm_90a".
std::string print_where(const KnownDevice& one) {
  std::vector<std::string> parts;
  if (one.is_here) parts.emplace_back("this machine");
  if (one.has_results) parts.emplace_back("in the store");
  if (!one.names.empty()) parts.push_back(fmt::format("named {}", fmt::join(one.names, ", ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string bytes(std::int64_t count) { return print_bytes(static_cast<double>(count)); }

TextTable table_of_cpus(const std::vector<KnownDevice>& devices) {
  TextTable table;
  table.column("CPU").column("model").column("cores", Align::right).column("vectors", Align::right).column("L1", Align::right);
  table.column("L2", Align::right).column("L3", Align::right).column("where");
  for (const KnownDevice& one : devices)
    if (const Device& device = one.device; !device.gpu)
      table.row({one.digest, one.model, std::to_string(device.cores), fmt::format("{} bit", 8 * device.vector_bytes), bytes(device.l1_bytes),
                 bytes(device.l2_bytes), bytes(device.l3_bytes), print_where(one)});
  return table;
}

TextTable table_of_gpus(const std::vector<KnownDevice>& devices) {
  TextTable table;
  table.column("GPU").column("model").column("arch").column("SMs", Align::right).column("shared a block", Align::right);
  table.column("L2", Align::right).column("memory", Align::right).column("where");
  for (const KnownDevice& one : devices)
    if (const std::optional<Gpu>& gpu = one.device.gpu)
      table.row({one.digest, one.model, gpu->arch, std::to_string(gpu->sms), bytes(gpu->block_shared_bytes), bytes(gpu->l2_bytes),
                 bytes(gpu->memory_bytes), print_where(one)});
  return table;
}

}  // namespace

std::string print_operators(const std::vector<OperatorSignature>& operators, bool colour) {
  TextTable table;
  table.column("operator").column("symbols").column("params").column("arguments");
  for (const OperatorSignature& one : operators)
    table.row({one.name, fmt::format("{}", fmt::join(one.symbol_order, ", ")), print_params(one), print_arguments(one)});
  return table.print(colour);
}

std::string operators_json(const std::vector<OperatorSignature>& operators) {
  Json array = Json::array();
  for (const OperatorSignature& one : operators) {
    Json arguments = Json::array();
    for (const Argument& argument : one.arguments)
      arguments.push_back({{"name", argument.name}, {"output", argument.is_output}, {"type", print(argument.type)}, {"rank", argument.rank}});
    array.push_back({{"operator", one.name}, {"symbols", one.symbol_order}, {"params", one.default_params}, {"type_param", one.type_param},
                     {"arguments", arguments}});
  }
  return array.dump(2) + "\n";
}

std::string print_spaces(const std::vector<schedules::ShippedSpace>& spaces, bool colour) {
  TextTable table;
  table.column("space").column("serves");
  for (const schedules::ShippedSpace& space : spaces) table.row({space.name, space.serves});
  return table.print(colour);
}

std::string spaces_json(const std::vector<schedules::ShippedSpace>& spaces) {
  Json array = Json::array();
  for (const schedules::ShippedSpace& space : spaces) array.push_back({{"space", space.name}, {"serves", space.serves}});
  return array.dump(2) + "\n";
}

std::vector<KnownDevice> known_devices(const Device& here, const std::string& db_path) {
  std::vector<KnownDevice> devices = {{digest(here).short_hex(), here.model, here, true, false, {}}};
  if (std::filesystem::exists(db_path)) {
    db::Store store(db_path, {.access = db::Access::read_only, .now = {}});
    for (const db::DeviceId id : db::devices(store)) {
      const db::DeviceRow row = db::device(store, id);
      if (row.digest == digest(here))
        devices.front().has_results = true;
      else
        devices.push_back({row.digest.short_hex(), row.model, parse_device(row.text), false, true, {}});
    }
  }
  add_named(devices);
  return devices;
}

std::string print_devices(const std::vector<KnownDevice>& devices, bool colour) {
  const TextTable cpus = table_of_cpus(devices), gpus = table_of_gpus(devices);
  if (gpus.is_empty()) return cpus.print(colour);
  return (cpus.is_empty() ? "" : cpus.print(colour) + "\n") + gpus.print(colour);
}

std::string devices_json(const std::vector<KnownDevice>& devices) {
  Json array = Json::array();
  for (const KnownDevice& one : devices)
    array.push_back({{"device", one.digest}, {"kind", one.device.kind()}, {"model", one.model}, {"names", one.names}, {"text", print(one.device)},
                     {"here", one.is_here}, {"in_store", one.has_results}});
  return array.dump(2) + "\n";
}

}  // namespace kiln::autotune::cli
