// The device that these tests run on.
#pragma once

#include <string>

#include "generators/cuda/driver/stream.h"

namespace kiln::gpu {

// cuda:0, current on the thread that asks first. Throws Missing where there is no driver or no device of compute capability 9.0, for which sm_90a code is
// made.
const generators::cuda::driver::OpenDevice& hopper();

// The kernels of these tests run one after the other.
const generators::cuda::driver::Stream& stream();

// Waits for what is in the stream. A kernel that has not ended after ten seconds ends the process, with the test's name: there is no other way to stop it.
void wait();

// Ends the process, with the test's name and these words, when the device does nothing more for it: what a kernel's fault does to its context.
void end_if_lost(const std::string& words);

}  // namespace kiln::gpu
