#include "schedules/devices.h"

#include <algorithm>

#include "dsl/error.h"

namespace kiln::schedules {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;

// Halide's names for the features of the psABI levels and of the two AVX-512 families.
const std::vector<std::string> kV2 = {"sse41"};
const std::vector<std::string> kV3 = {"avx", "avx2", "f16c", "fma", "sse41"};
const std::vector<std::string> kV4 = {"avx", "avx2", "avx512", "avx512_skylake", "f16c", "fma", "sse41"};
const std::vector<std::string> kZen4 = {"avx", "avx2", "avx512", "avx512_cannonlake", "avx512_skylake", "avx512_zen4", "f16c", "fma", "sse41"};
const std::vector<std::string> kSapphireRapids = {"avx", "avx2", "avx512", "avx512_cannonlake", "avx512_sapphirerapids", "avx512_skylake",
                                                  "f16c", "fma", "sse41"};

struct Limits {
  int vector_bytes, vector_registers;
  std::int64_t l1_bytes, l2_bytes, l3_bytes;
};

NamedDevice entry(const std::string& name, const std::string& source, const std::vector<std::string>& features, const Limits& limits) {
  Device device;
  device.model = name;
  device.features = features;
  device.vector_bytes = limits.vector_bytes;
  device.vector_registers = limits.vector_registers;
  device.l1_bytes = limits.l1_bytes;
  device.l2_bytes = limits.l2_bytes;
  device.l3_bytes = limits.l3_bytes;
  return {name, source, device};
}

}  // namespace

const std::vector<NamedDevice>& named_devices() {
  // The levels promise registers, not caches: for those the smallest of the processors that define the level.
  static const std::vector<NamedDevice> kDevices = {
      entry("sapphire_rapids", "Intel optimization reference manual: 48 KiB L1D and 2 MiB L2 a core, 1.875 MiB L3 a core, here of 32", kSapphireRapids,
            {64, 32, 48 * kKiB, 2 * kMiB, 60 * kMiB}),
      entry("x86-64-v2", "x86-64 psABI, level 2; caches of Nehalem", kV2, {16, 16, 32 * kKiB, 256 * kKiB, 4 * kMiB}),
      entry("x86-64-v3", "x86-64 psABI, level 3; caches of Haswell", kV3, {32, 16, 32 * kKiB, 256 * kKiB, 6 * kMiB}),
      entry("x86-64-v4", "x86-64 psABI, level 4; caches of Skylake-X", kV4, {64, 32, 32 * kKiB, 1 * kMiB, 8448 * kKiB}),
      entry("zen4", "AMD software optimization guide for Zen 4: 32 KiB L1D and 1 MiB L2 a core, 32 MiB L3 a core complex", kZen4,
            {64, 32, 32 * kKiB, 1 * kMiB, 32 * kMiB}),
  };
  return kDevices;
}

const Device& device_named(const std::string& name) {
  std::string names;
  for (const NamedDevice& named : named_devices()) {
    if (named.name == name) return named.device;
    names += (names.empty() ? "" : ", ") + named.name;
  }
  throw UsageError("no device `" + name + "`; there are " + names);
}

}  // namespace kiln::schedules
