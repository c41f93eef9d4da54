// How long a kernel takes, before any compiler has seen it: for ranking candidates, and for saying what binds one.
#pragma once

#include <optional>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/plan/kernel_plan.h"
#include "generators/cuda/resources/ring_time.h"

namespace kiln::generators::cuda {

resources::RingWork work_of(const RingPlan& plan);

// Of the ring only: of the stream's kernels no more is told than predict_ns says. Nothing where the data sheet lacks a speed.
std::optional<resources::RingTime> predict_time(const KernelPlan& plan, const Gpu& gpu);

// Of a whole call: rings, and what is computed element by element between them, at the memory's pace. Nothing where another kernel is among them, or where the
// schedule cannot be lowered.
std::optional<double> predict_ns(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Gpu& gpu);

}  // namespace kiln::generators::cuda
