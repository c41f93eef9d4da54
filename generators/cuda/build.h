// The CUDA back end: algorithm + schedule + problem -> an image (cubin and launch record) with its reports. Needs no GPU.
#pragma once

#include <string>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/build.h"
#include "generators/cuda/compile/nvrtc.h"

namespace kiln::generators::cuda {

// "cuda-sm_90a", and "-unfused" where a · b + c must be rounded twice. Throws UsageError when the device is no GPU.
std::string target_string(const Device& device, Contract contract);

// Identity of what a build depends on: the kernels' text, how they are launched, target, compiler, prelude. Problems whose kernels are the same share it. What
// is refused before it is a text is identified by algorithm, schedule and problem. `toolchain`: compile::toolchain_text.
Digest build_key(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device, const std::string& toolchain);

// legality -> kernels as text -> predict -> prune -> compile -> report -> prune. Never throws for what a candidate did: that is the rejection. Throws
// EnvironmentError when NVRTC does not know the device's architecture.
Build build(const compile::Nvrtc& nvrtc, const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device);

}  // namespace kiln::generators::cuda
