// What a program takes of a GPU, before any compiler has seen it.
#pragma once

#include <optional>

#include "dsl/device.h"
#include "dsl/problem.h"
#include "generators/cuda/lower.h"
#include "generators/rejection.h"
#include "generators/report.h"

namespace kiln::generators::cuda {

// Of one kernel under the problem.
KernelResources predict(const Kernel& kernel, const Gpu& gpu);

// Resources of one kernel when its registers are known: residency, waves, bytes in flight.
KernelResources with_residency(KernelResources known, const KernelPlan& plan, const Gpu& gpu);

// The first kernel whose plan the GPU cannot run: ring_limits.h.
std::optional<Rejection> find_unfit(const Program& program, const Gpu& gpu);

// The first kernel that no launch could run: more threads, registers or shared memory than a block may have, more blocks than a grid.
std::optional<Rejection> find_oversized(const std::vector<KernelResources>& kernels, const Gpu& gpu);

}  // namespace kiln::generators::cuda
