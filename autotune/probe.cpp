#include "autotune/probe.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "autotune/process/messages.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

constexpr double kAnswer_s = 20;

std::optional<std::string> first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (file >> word) return word;
  return std::nullopt;
}

std::optional<bool> flag(const std::string& path) {
  const std::optional<std::string> word = first_word(path);
  if (word == "1") return true;
  if (word == "0") return false;
  return std::nullopt;
}

// The eighth number of /proc/stat's first line is steal; guest times (ninth, tenth) are contained in the first two.
double read_steal_share() {
  std::ifstream file("/proc/stat");
  std::string label;
  file >> label;
  double total = 0, steal = 0, value = 0;
  for (int i = 0; i < 8 && file >> value; ++i) {
    total += value;
    if (i == 7) steal = value;
  }
  return total > 0 ? steal / total : 0;
}

std::string show(const std::optional<bool>& value) { return value ? (*value ? "1" : "0") : "-"; }

Json optional_flag(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }
std::optional<bool> optional_flag_from(const Json& json) { return json.is_null() ? std::nullopt : std::optional<bool>(json.get<bool>()); }

}  // namespace

Conditions read_conditions() {
  Conditions conditions;
  conditions.governor = first_word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").value_or("");
  conditions.boost = flag("/sys/devices/system/cpu/cpufreq/boost");
  conditions.smt = flag("/sys/devices/system/cpu/smt/active");
  conditions.aslr = std::atoi(first_word("/proc/sys/kernel/randomize_va_space").value_or("-1").c_str());
  conditions.load_1min = std::atof(first_word("/proc/loadavg").value_or("0").c_str());
  conditions.steal_share = read_steal_share();
  return conditions;
}

std::string print(const Conditions& conditions) {
  return fmt::format("governor={} boost={} smt={} aslr={} load={:.2f} steal={:.4f}", conditions.governor.empty() ? "-" : conditions.governor,
                     show(conditions.boost), show(conditions.smt), conditions.aslr, conditions.load_1min, conditions.steal_share);
}

Json to_json(const Probe& probe) {
  const Conditions& c = probe.conditions;
  return {{"device", print(probe.device)}, {"host_cores", probe.host_cores}, {"governor", c.governor}, {"boost", optional_flag(c.boost)}, {"smt", optional_flag(c.smt)},
          {"aslr", c.aslr},                {"load_1min", c.load_1min}, {"steal_share", c.steal_share}};
}

Probe probe_from_json(const Json& json) {
  Probe probe;
  probe.device = parse_device(json.at("device").get<std::string>());
  json.at("host_cores").get_to(probe.host_cores);
  json.at("governor").get_to(probe.conditions.governor);
  probe.conditions.boost = optional_flag_from(json.at("boost"));
  probe.conditions.smt = optional_flag_from(json.at("smt"));
  json.at("aslr").get_to(probe.conditions.aslr);
  json.at("load_1min").get_to(probe.conditions.load_1min);
  json.at("steal_share").get_to(probe.conditions.steal_share);
  return probe;
}

std::optional<int> gpu_ordinal(const std::string& device) {
  if (device == "cpu") return std::nullopt;
  if (device == "cuda") return 0;
  constexpr std::string_view kBefore = "cuda:";
  const std::string_view digits = std::string_view(device).substr(std::min(device.size(), kBefore.size()));
  int ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (!device.starts_with(kBefore) || error != std::errc{} || end != digits.data() + digits.size() || ordinal < 0)
    throw UsageError(fmt::format("--device {}: what can be measured on is what is here: `cpu`, or `cuda:0` and so on", device));
  return ordinal;
}

Probe probe(Launch launch, const std::string& device) {
  if (launch.arguments.empty()) launch.arguments = {"--role=probe"};
  Child child(launch);
  child.channel().send({1, "probe", {{"device", device}}}, seconds_from_now(kAnswer_s));
  const auto received = child.channel().receive(seconds_from_now(kAnswer_s));
  if (received.status == Channel::Status::message && received.message.kind == "probe") {
    Probe answer = probe_from_json(received.message.body);
    child.finish(std::chrono::seconds(1));
    return answer;
  }
  if (received.status == Channel::Status::message && received.message.kind == "error") throw_error(received.message.body);
  const Exit exit = received.status == Channel::Status::timeout ? child.kill_at_limit(kAnswer_s, kAnswer_s) : child.finish(std::chrono::seconds(1));
  throw EnvironmentError(fmt::format("the processor cannot be probed: the probe ended with {}{}", exit.describe(), tail_for_message(child.log())));
}

}  // namespace kiln::autotune
