// The CUDA driver, loaded when it is asked for. Everything else in this folder is made from a Driver.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dsl/device.h"
#include "dsl/error.h"
#include "generators/cuda/driver/api.h"

namespace kiln::generators::cuda::driver {

// No driver, one that is too old, or one that does not start; the message says which.
class DriverMissing : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

// A call failed. "cuMemAlloc of 12 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)". What failed on the device itself, as an access to a wrong
// address, makes every later call of the process fail too.
class DriverError : public Error {
 public:
  DriverError(Status status, const std::string& text) : Error(text), status_(status) {}
  Status status() const { return status_; }

 private:
  Status status_;
};

class Driver {
 public:
  // Finds `library` as the loader does and starts the driver. Throws DriverMissing. The library is never unloaded.
  static Driver load(const std::string& library = "libcuda.so.1");

  int version() const;  // 13000: CUDA 13.0 is the newest that it knows
  int devices() const;  // that this process may see

  // What a device is and its limits, without a data sheet's tensor_flops. Throws EnvironmentError when there is no such device.
  Device device(int ordinal) const;

  // CUDA's number for a device. Throws EnvironmentError when there is no such device.
  int find(int ordinal) const;

  const Api& api() const { return *api_; }

  // Throws DriverError that begins with `call` unless `status` is success.
  void check(Status status, std::string_view call) const;

 private:
  explicit Driver(std::shared_ptr<const Api> api) : api_(std::move(api)) {}
  std::shared_ptr<const Api> api_;
};

}  // namespace kiln::generators::cuda::driver
