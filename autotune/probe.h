// What this machine is and in what state: asked of a probe process, which lives for a fraction of a second.
#pragma once

#include <optional>
#include <string>

#include "autotune/process/child.h"
#include "dsl/device.h"

namespace kiln::autotune {

// What can move times without moving the device's identity; stored with the run.
struct Conditions {
  std::string governor;                   // "performance"; empty where the system does not say
  std::optional<bool> boost, smt;         // nothing where the system does not say
  int aslr = -1;                          // /proc/sys/kernel/randomize_va_space; -1: unreadable
  double load_1min = 0;
  double steal_share = 0;                 // of processor time since boot: taken by other guests of the host
  bool operator==(const Conditions&) const = default;
};

struct Probe {
  Device device;          // the one asked for
  int host_cores = 1;     // usable
  Conditions conditions;
};

// "cuda:1": 1; "cuda": 0; nothing for "cpu". Throws UsageError for another name of a device.
std::optional<int> gpu_ordinal(const std::string& device);

// `device`: "cpu", or "cuda:0" and so on; "cuda" is the first. Throws EnvironmentError when the probe process cannot start, dies or does not answer in 20 s, and
// when there is no such device here; UsageError for another name.
Probe probe(Launch launch = {}, const std::string& device = "cpu");

// Reads /proc and /sys: what the probe process does.
Conditions read_conditions();

// One line for people and for the row of a run: "governor=performance boost=1 smt=- aslr=2 load=0.42 steal=0.0012".
std::string print(const Conditions& conditions);

Json to_json(const Probe& probe);
Probe probe_from_json(const Json& json);

}  // namespace kiln::autotune
