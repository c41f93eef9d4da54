// A kernel that keeps a stream waiting, so that what is submitted behind it begins when all of it has been submitted; meanwhile it tells the SMs' clock.
#pragma once

#include "generators/cuda/driver/memory.h"
#include "generators/cuda/driver/stream.h"

namespace kiln::generators::cuda::driver {

class Hold {
 public:
  // Throws DriverError where the driver has no compiler for PTX.
  explicit Hold(const OpenDevice& device);

  // Returns at once; the stream goes on `ns` later than it would. It ends by itself: nothing that the host does or leaves undone makes it hang.
  void launch(const Stream& stream, std::int64_t ns) const;

  // Of the last launch in the stream, for whose end this waits: cycles of its SM in a microsecond.
  double sm_mhz(const Stream& stream) const;

 private:
  Kernel kernel_;
  DeviceMemory told_;  // cycles, and ns
};

}  // namespace kiln::generators::cuda::driver
