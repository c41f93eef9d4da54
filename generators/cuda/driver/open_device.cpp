#include "generators/cuda/driver/open_device.h"

#include <fmt/format.h>

namespace kiln::generators::cuda::driver {

struct OpenDevice::Retained {
  Retained(const Driver& of, int ordinal) : driver(of), device(of.find(ordinal)) {
    driver.check(driver.api().retain(&context, device), fmt::format("cuDevicePrimaryCtxRetain of cuda:{}", ordinal));
  }
  ~Retained() { driver.api().release(device); }
  Retained(const Retained&) = delete;
  Retained& operator=(const Retained&) = delete;

  Driver driver;
  int device;
  CuContext context = nullptr;
};

OpenDevice::OpenDevice(const Driver& driver, int ordinal) : retained_(std::make_shared<const Retained>(driver, ordinal)) { make_current(); }

void OpenDevice::make_current() const { check(api().make_current(retained_->context), "cuCtxSetCurrent"); }

const Driver& OpenDevice::driver() const { return retained_->driver; }

int OpenDevice::sms() const {
  constexpr int kMultiprocessorCount = 16;  // CUdevice_attribute
  int sms = 0;
  check(api().device_attribute(&sms, kMultiprocessorCount, retained_->device), "cuDeviceGetAttribute of the multiprocessors");
  return sms;
}

}  // namespace kiln::generators::cuda::driver
