// Why a GPU cannot run a ring's plan, before any compiler has seen it: what ptxas only remarks on, or accepts and the device then waits for forever.
#pragma once

#include <optional>

#include "dsl/device.h"
#include "generators/cuda/plan/ring_plan.h"
#include "generators/rejection.h"

namespace kiln::generators::cuda {

// The first of: no such instruction, roles that setmaxnreg cannot deal out, sums or one wgmma that do not fit the registers, a ring that does not fit shared
// memory, a cluster or a tensor copy that cannot be. Nothing when it can run.
std::optional<Rejection> find_unfit(const RingPlan& plan, const Gpu& gpu);

}  // namespace kiln::generators::cuda
