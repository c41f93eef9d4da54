// The time of a loop that copies a step's operands while it computes with those of a step before.
#pragma once

#include <cstdint>
#include <optional>

#include "dsl/device.h"

namespace kiln::generators::cuda::resources {

struct StepTimes {
  double copy_ns = 0, compute_ns = 0;
};

// Copies are done one after the other, so are computations; a computation begins when its copy is there, a copy when the computation that used its
// buffer before is over. Events cost nothing. One buffer: everything in turn. More than two gain nothing when all steps take the same time.
double pipeline_ns(const StepTimes& step, std::int64_t steps, int buffers);

// What one SM takes by its equal part of the memory's bandwidth, and of the tensor cores' speed, as the data sheet has them. Nothing when it does not.
std::optional<double> copy_ns(std::int64_t bytes, const Gpu& gpu);
std::optional<double> product_ns(double flops, const Gpu& gpu);

}  // namespace kiln::generators::cuda::resources
