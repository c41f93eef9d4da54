// Registers of a kernel's threads, before any compiler has seen it.
#pragma once

#include "dsl/device.h"
#include "generators/cuda/plan/ring_plan.h"
#include "generators/cuda/plan/stream_plan.h"

namespace kiln::generators::cuda {

struct RegisterEstimate {
  int registers = 0;     // of a thread, within what the launch bounds leave
  bool spills = false;   // more than 8 bytes
  bool operator==(const RegisterEstimate&) const = default;
};

// Linear in what is alive at once: vectors under way, addresses, sums, converted elements. The form is from how the kernels are written, the
// coefficients were fitted on what NVRTC 13.0 compiled for sm_90a of plans of eleven computations, 5,000 kernels of rows among them: within 8 registers,
// or 15 %, of 97 %, of sums of three rows and more of some 85 %. Of rows that spill 95 % are foreseen; of those foreseen, three in four do. For other
// architectures they are an estimate.
RegisterEstimate estimate_registers(const StreamPlan& plan, const Gpu& gpu);

// Of the ring: where warps have roles, what the compiler reports is what every thread begins with, and setmaxnreg deals out the rest.
RegisterEstimate estimate_registers(const RingPlan& plan, const Gpu& gpu);

}  // namespace kiln::generators::cuda
