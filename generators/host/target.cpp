// Halide's target string from the device's facts, and the identities that depend on it.
#include <algorithm>
#include <array>

#include <HalideRuntime.h>

#include "dsl/error.h"
#include "generators/host/host.h"

namespace kiln::generators::host {
namespace {

// In the order in which Halide prints them, so that the string is Halide's own form.
constexpr std::array kFeatureOrder{"sse41",          "avx",           "avx2",       "avxvnni", "fma", "f16c", "avx512", "avx512_skylake",
                                   "avx512_cannonlake", "avx512_zen4", "avx512_sapphirerapids"};

bool has(const Device& device, const char* feature) {
  return std::find(device.features.begin(), device.features.end(), feature) != device.features.end();
}

// Raised when the same schedule text comes to mean another object: the analysis passes, the alignment rule, the compiler's flags.
constexpr int kCodegenVersion = 1;

}  // namespace

std::string target_string(const Device& device, Isa isa, Contract contract) {
  require_cpu(device, "an object of the host back end");
  if (!has(device, "sse41"))
    throw EnvironmentError("the CPU '" + device.model + "' lacks SSE4.1, which every build of Kiln needs (x86-64-v2: any x86-64 CPU since 2009)");
  std::string target = "x86-64-linux";
  for (const char* feature : kFeatureOrder)
    if (isa == Isa::native ? has(device, feature) : std::string_view(feature) == "sse41") target += std::string("-") + feature;
  if (contract == Contract::strict) target += "-strict_float";
  return target + "-no_runtime";
}

std::string toolchain_text() {
  return "halide " + std::to_string(HALIDE_VERSION_MAJOR) + "." + std::to_string(HALIDE_VERSION_MINOR) + "." + std::to_string(HALIDE_VERSION_PATCH) +
         "\ncodegen_version " + std::to_string(kCodegenVersion) + "\n";
}

Digest build_key(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const std::string& target) {
  // Every directive of this back end is a compile-time one: it changes the object.
  std::string text = "algorithm " + digest(algorithm).hex() + "\nschedule " + digest(schedule).hex() + "\ntarget " + target + "\ntoolchain " +
                     digest("toolchain", toolchain_text()).hex() + "\n";
  // An opaque schedule may follow the extents, which stand in no directive.
  if (schedule.is_opaque())
    for (const auto& [symbol, extent] : problem.extents) text += "extent " + symbol + " " + std::to_string(extent) + "\n";
  return digest("build", text);
}

}  // namespace kiln::generators::host
