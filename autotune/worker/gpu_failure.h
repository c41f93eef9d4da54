// What a failed call says of its candidate, and of the process.
#pragma once

#include <string>

#include "autotune/worker/measured_device.h"
#include "generators/cuda/driver/stream.h"

namespace kiln::autotune {

// The driver's words. Throws DeviceLost with them when nothing runs in this process any more: after an access to a wrong address every later call fails.
inline std::string words_of(const generators::cuda::driver::DriverError& error, const generators::cuda::driver::Stream& stream, const SharedPage& page) {
  try {
    stream.wait();
  } catch (const generators::cuda::driver::DriverError&) {
    throw DeviceLost(error.what(), page);
  }
  return error.what();
}

}  // namespace kiln::autotune
