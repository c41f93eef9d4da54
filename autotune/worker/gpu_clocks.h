// The clocks of a call on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "autotune/measure/clocks.h"
#include "autotune/measure/shared_page.h"
#include "autotune/worker/gpu_kernel.h"
#include "generators/cuda/driver/hold.h"
#include "generators/cuda/launch/loaded_program.h"

namespace kiln::autotune {

using HostClock = std::function<std::int64_t()>;  // ns

struct ClocksRequest {
  const Protocol& protocol;  // warm_ms, sample_us and final_samples; not its cache
  Cache cache;               // of the rotation
  SharedPage& page;
  HostClock now = monotonic_ns;
};

// As a graph and as plain launches. Throws driver::DriverError.
std::vector<Clocks> measure_clocks(const generators::cuda::LoadedProgram& program, GpuRotation& rotation, const generators::cuda::driver::Hold& hold,
                                   const ClocksRequest& request);

}  // namespace kiln::autotune
