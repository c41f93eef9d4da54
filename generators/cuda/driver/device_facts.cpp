// A device as the driver describes it: cuDeviceGetAttribute for what has an attribute, cuda_occupancy.h of CUDA 13.0 for what has none.
#include <fmt/format.h>

#include "generators/cuda/driver/driver.h"

namespace kiln::generators::cuda::driver {
namespace {

// CUdevice_attribute.
enum Attribute : int {
  max_threads_per_block = 1,
  warp_size = 10,
  max_registers_per_block = 12,
  clock_rate_khz = 13,
  multiprocessor_count = 16,
  memory_clock_rate_khz = 36,
  memory_bus_bits = 37,
  l2_cache_bytes = 38,
  max_threads_per_sm = 39,
  capability_major = 75,
  capability_minor = 76,
  max_shared_bytes_per_sm = 81,
  max_registers_per_sm = 82,
  max_shared_bytes_per_block = 97,  // after opting in
  max_blocks_per_sm = 106,
  reserved_shared_bytes_per_block = 111,
  cluster_launch = 120,
};

// The memory without what the driver keeps for itself, which changes with its version: whole GiB, so that an update makes no other device.
std::int64_t rounded_memory(std::size_t bytes) {
  constexpr std::size_t kGiB = std::size_t{1} << 30;
  return static_cast<std::int64_t>((bytes + kGiB - 1) / kGiB * kGiB);
}

// Code for the architecture itself: from 9.0 on some instructions are left out without the `a` (wgmma, setmaxnreg).
std::string arch_of(const Gpu& gpu) {
  return fmt::format("sm_{}{}{}", gpu.capability_major, gpu.capability_minor, gpu.capability_major >= 9 ? "a" : "");
}

// One or two barriers for each block that an SM holds.
int barriers_of(const Gpu& gpu) {
  const int major = gpu.capability_major, minor = gpu.capability_minor;
  const bool has_one = (major == 8 && minor != 0) || (major == 10 && minor == 1) || (major == 11 && minor == 0) || major >= 12;
  return gpu.sm_blocks * (has_one ? 1 : 2);
}

void fill_what_has_no_attribute(Gpu& gpu) {
  gpu.arch = arch_of(gpu);
  gpu.sm_barriers = barriers_of(gpu);
  gpu.sm_partitions = gpu.capability_major == 6 && gpu.capability_minor == 0 ? 2 : 4;
  gpu.register_step = 256 / gpu.warp_threads;  // 256 registers of a warp
  gpu.shared_step_bytes = gpu.capability_major >= 8 ? 128 : 256;
  gpu.thread_registers = 255;  // CUDA C++ Programming Guide, technical specifications
}

}  // namespace

Device Driver::device(int ordinal) const {
  const int number = find(ordinal);
  const auto read = [&](Attribute attribute) {
    int value = 0;
    check(api_->device_attribute(&value, attribute, number), fmt::format("cuDeviceGetAttribute {} of cuda:{}", static_cast<int>(attribute), ordinal));
    return value;
  };
  char name[256] = {};
  std::size_t memory_bytes = 0;
  check(api_->device_name(name, sizeof name, number), fmt::format("cuDeviceGetName of cuda:{}", ordinal));
  check(api_->device_memory(&memory_bytes, number), fmt::format("cuDeviceTotalMem of cuda:{}", ordinal));

  Gpu gpu;
  gpu.capability_major = read(capability_major);
  gpu.capability_minor = read(capability_minor);
  gpu.sms = read(multiprocessor_count);
  gpu.memory_bytes = rounded_memory(memory_bytes);
  gpu.l2_bytes = read(l2_cache_bytes);
  gpu.sm_threads = read(max_threads_per_sm);
  gpu.sm_blocks = read(max_blocks_per_sm);
  gpu.sm_registers = read(max_registers_per_sm);
  gpu.sm_shared_bytes = read(max_shared_bytes_per_sm);
  gpu.warp_threads = read(warp_size);
  gpu.block_threads = read(max_threads_per_block);
  gpu.block_registers = read(max_registers_per_block);
  gpu.block_shared_bytes = read(max_shared_bytes_per_block);
  gpu.reserved_shared_bytes = read(reserved_shared_bytes_per_block);
  gpu.cluster_blocks = read(cluster_launch) != 0 ? 8 : 0;  // CUDA C++ Programming Guide, "Thread Block Clusters": the portable size
  // Two transfers a clock.
  gpu.memory_bytes_per_s = std::int64_t{2} * 1000 * read(memory_clock_rate_khz) * (read(memory_bus_bits) / 8);
  gpu.clock_hz = std::int64_t{1000} * read(clock_rate_khz);
  fill_what_has_no_attribute(gpu);

  Device device;
  device.vendor = "NVIDIA";
  device.model = name;
  device.gpu = gpu;
  return device;
}

}  // namespace kiln::generators::cuda::driver
