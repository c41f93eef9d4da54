#include "generators/cuda/driver/memory.h"

#include <fmt/format.h>

#include <utility>

namespace kiln::generators::cuda::driver {

DeviceMemory::DeviceMemory(const OpenDevice& device, std::size_t bytes) : device_(device), bytes_(bytes) {
  device_.check(device_.api().allocate(&address_, bytes), fmt::format("cuMemAlloc of {} bytes", bytes));
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept : device_(other.device_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}

DeviceMemory::~DeviceMemory() {
  if (address_ != 0) device_.api().free(address_);
}

}  // namespace kiln::generators::cuda::driver
