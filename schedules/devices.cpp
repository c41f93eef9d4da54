#include "schedules/devices.h"

#include <algorithm>

#include "dsl/error.h"

namespace kiln::schedules {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

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

NamedDevice cpu(const std::string& name, const std::string& source, const std::vector<std::string>& features, const Limits& limits) {
  Device device;
  device.model = name;
  device.features = features;
  device.vector_bytes = limits.vector_bytes;
  device.vector_registers = limits.vector_registers;
  device.l1_bytes = limits.l1_bytes;
  device.l2_bytes = limits.l2_bytes;
  device.l3_bytes = limits.l3_bytes;
  return {name, source, device, {}};
}

// Alike in compute capability 8.0 and 9.0. CUDA C++ Programming Guide 13.0, "Compute Capabilities": the tables of technical specifications for what an
// SM, a block and a thread may have, "an SM consists of 4 warp schedulers". cuda_occupancy.h of CUDA 13.0: 256 registers of a warp and 128 bytes of
// shared memory are the steps, an SM has two barriers for each block that it can hold, and a warp's registers lie in one of four parts.
// Ampere and Hopper tuning guides, "Shared Memory": 1 KB is reserved for each block.
Gpu since_8_0() {
  Gpu gpu;
  gpu.sm_threads = 2048;
  gpu.sm_blocks = 32;
  gpu.sm_barriers = 64;
  gpu.sm_registers = 65536;
  gpu.sm_partitions = 4;
  gpu.warp_threads = 32;
  gpu.register_step = 8;
  gpu.shared_step_bytes = 128;
  gpu.block_threads = 1024;
  gpu.block_registers = 65536;
  gpu.reserved_shared_bytes = 1 * kKiB;
  gpu.thread_registers = 255;
  return gpu;
}

// Shared memory: the same tables. A100 80GB data sheet (SXM): 80 GB at 2,039 GB/s, 312 TFLOPS in bf16. NVIDIA A100 Tensor Core GPU Architecture, table
// "Comparison of NVIDIA Data Center GPUs": 108 SMs, 1410 MHz boost, 40 MB of L2.
Gpu a100() {
  Gpu gpu = since_8_0();
  gpu.arch = "sm_80";
  gpu.capability_major = 8;
  gpu.sm_shared_bytes = 164 * kKiB;
  gpu.block_shared_bytes = 163 * kKiB;
  gpu.sms = 108;
  gpu.memory_bytes = 80 * kGiB;
  gpu.l2_bytes = 40 * kMiB;
  gpu.memory_bytes_per_s = 2'039'000'000'000;
  gpu.clock_hz = 1'410'000'000;
  gpu.tensor_flops = 312'000'000'000'000;
  return gpu;
}

// Shared memory: the same tables; clusters: the guide's "Thread Block Clusters", 8 blocks is the portable size. H100 data sheet (SXM): 80 GB at 3.35 TB/s.
// NVIDIA H100 Tensor Core GPU Architecture, tables for H100 SXM5: 132 SMs, 50 MB of L2, 989.4 TFLOPS in bf16 without sparsity, and 1,980 MHz, by which
// its 66.9 TFLOPS in f32 come about (132 SMs of 128 multiply-adds).
Gpu h100() {
  Gpu gpu = since_8_0();
  gpu.arch = "sm_90a";
  gpu.capability_major = 9;
  gpu.sm_shared_bytes = 228 * kKiB;
  gpu.block_shared_bytes = 227 * kKiB;
  gpu.cluster_blocks = 8;
  gpu.sms = 132;
  gpu.memory_bytes = 80 * kGiB;
  gpu.l2_bytes = 50 * kMiB;
  gpu.memory_bytes_per_s = 3'350'000'000'000;
  gpu.clock_hz = 1'980'000'000;
  gpu.tensor_flops = 989'400'000'000'000;
  return gpu;
}

// The chip of the H100. H200 data sheet (SXM): 141 GB at 4.8 TB/s. Measured on an H200: copies reach 4.3 TB/s, L2 has 60 MB, and CUDA offers something
// over 139 GiB of the memory; rounded up here, as the driver's answer is.
Gpu h200() {
  Gpu gpu = h100();
  gpu.memory_bytes = 140 * kGiB;
  gpu.l2_bytes = 60 * kMiB;
  gpu.memory_bytes_per_s = 4'800'000'000'000;
  return gpu;
}

// `model` is the name that the driver gives.
NamedDevice gpu(const std::string& name, const std::string& model, const std::string& source, const Gpu& limits, const std::vector<std::string>& aliases) {
  Device device;
  device.vendor = "NVIDIA";
  device.model = model;
  device.gpu = limits;
  return {name, source, device, aliases};
}

}  // namespace

const std::vector<NamedDevice>& named_devices() {
  // The levels promise registers, not caches: for those the smallest of the processors that define the level.
  static const std::vector<NamedDevice> kDevices = {
      gpu("a100", "NVIDIA A100-SXM4-80GB", "CUDA C++ Programming Guide, compute capability 8.0; A100 80GB data sheet and architecture paper", a100(),
          {"sm_80"}),
      gpu("h100", "NVIDIA H100 80GB HBM3", "CUDA C++ Programming Guide, compute capability 9.0; H100 SXM data sheet and architecture paper", h100(),
          {"sm_90a"}),
      gpu("h200", "NVIDIA H200", "CUDA C++ Programming Guide, compute capability 9.0; H200 SXM data sheet; L2 measured", h200(), {}),
      cpu("sapphire_rapids", "Intel optimization reference manual: 48 KiB L1D and 2 MiB L2 a core, 1.875 MiB L3 a core, here of 32", kSapphireRapids,
          {64, 32, 48 * kKiB, 2 * kMiB, 60 * kMiB}),
      cpu("x86-64-v2", "x86-64 psABI, level 2; caches of Nehalem", kV2, {16, 16, 32 * kKiB, 256 * kKiB, 4 * kMiB}),
      cpu("x86-64-v3", "x86-64 psABI, level 3; caches of Haswell", kV3, {32, 16, 32 * kKiB, 256 * kKiB, 6 * kMiB}),
      cpu("x86-64-v4", "x86-64 psABI, level 4; caches of Skylake-X", kV4, {64, 32, 32 * kKiB, 1 * kMiB, 8448 * kKiB}),
      cpu("zen4", "AMD software optimization guide for Zen 4: 32 KiB L1D and 1 MiB L2 a core, 32 MiB L3 a core complex", kZen4,
          {64, 32, 32 * kKiB, 1 * kMiB, 32 * kMiB}),
  };
  return kDevices;
}

const NamedDevice* find_device(const std::string& name) {
  for (const NamedDevice& named : named_devices())
    if (named.name == name || std::count(named.aliases.begin(), named.aliases.end(), name) > 0) return &named;
  return nullptr;
}

const Device& device_named(const std::string& name) {
  if (const NamedDevice* found = find_device(name)) return found->device;
  std::string names;
  for (const NamedDevice& named : named_devices()) {
    names += (names.empty() ? "" : ", ") + named.name;
    for (const std::string& alias : named.aliases) names += " (" + alias + ")";
  }
  throw UsageError("no device `" + name + "`; there are " + names);
}

const NamedDevice* find_gpu_model(const std::string& model) {
  for (const NamedDevice& named : named_devices())
    if (named.device.gpu && named.device.model == model) return &named;
  return nullptr;
}

Device with_data_sheet(Device device) {
  const NamedDevice* named = device.gpu ? find_gpu_model(device.model) : nullptr;
  if (named == nullptr) return device;
  device.gpu->memory_bytes_per_s = named->device.gpu->memory_bytes_per_s;
  device.gpu->clock_hz = named->device.gpu->clock_hz;
  device.gpu->tensor_flops = named->device.gpu->tensor_flops;
  return device;
}

}  // namespace kiln::schedules
