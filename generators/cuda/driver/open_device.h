// A device that this process uses.
#pragma once

#include <memory>
#include <string_view>

#include "generators/cuda/driver/driver.h"

namespace kiln::generators::cuda::driver {

// The primary context of a device, which every library of the process shares; released when the last copy of this value is gone. What is made from it
// (memory, kernels, streams) holds a copy.
class OpenDevice {
 public:
  // Also makes it current on this thread. Throws EnvironmentError when there is no such device.
  OpenDevice(const Driver& driver, int ordinal);

  // On every other thread before anything of it is used there.
  void make_current() const;

  const Driver& driver() const;
  int sms() const;  // multiprocessors
  const Api& api() const { return driver().api(); }
  void check(Status status, std::string_view call) const { driver().check(status, call); }

 private:
  struct Retained;
  std::shared_ptr<const Retained> retained_;
};

}  // namespace kiln::generators::cuda::driver
