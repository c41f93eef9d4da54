// Memory of a device.
#pragma once

#include <cstddef>

#include "generators/cuda/driver/open_device.h"

namespace kiln::generators::cuda::driver {

// Freed with this value. Its contents are what was there before.
class DeviceMemory {
 public:
  // `bytes` is at least 1. Throws DriverError.
  DeviceMemory(const OpenDevice& device, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;

  Address address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  OpenDevice device_;
  Address address_ = 0;
  std::size_t bytes_;
};

}  // namespace kiln::generators::cuda::driver
