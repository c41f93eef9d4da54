// The CUDA back end's first half: algorithm + schedule + problem -> kernels as text, in the order of their launches. Needs neither a compiler nor a GPU.
#pragma once

#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/capability.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/emit/ring.h"
#include "generators/cuda/emit/stream.h"
#include "generators/cuda/plan/kernel_plan.h"
#include "generators/cuda/program/recognise.h"

namespace kiln::generators::cuda {

struct Kernel {
  KernelPlan plan;
  KernelText text;
};

struct Program {
  std::vector<Kernel> kernels;               // one after the other
  std::vector<Intermediate> intermediates;   // what one writes and a later one reads
  bool is_strict = false;                    // a · b + c is two roundings

  std::string text() const;                  // one translation unit over generators/cuda/device
};

// `capability` is of the device that the kernels are for: the oldest that the skeletons were tuned on, where nobody says. Throws ScheduleError: an illegal
// schedule, a directive that the back end or the device has no place for, a stage that no skeleton covers, with the requirement that it misses.
Program lower(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Capability& capability = {9, 0});

// The same plans without their texts, for those who only count.
std::vector<KernelPlan> plan_kernels(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Capability& capability);

}  // namespace kiln::generators::cuda
