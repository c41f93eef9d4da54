#include "generators/cuda/resources/pipeline.h"

#include <algorithm>
#include <vector>

namespace kiln::generators::cuda::resources {
namespace {

std::optional<double> of_one_sm(double amount, std::int64_t per_s, const Gpu& gpu) {
  if (per_s == 0) return std::nullopt;
  return amount / (static_cast<double>(per_s) / gpu.sms) * 1e9;
}

}  // namespace

double pipeline_ns(const StepTimes& step, std::int64_t steps, int buffers) {
  std::vector<double> freed(static_cast<std::size_t>(buffers), 0);  // when each buffer may be filled again
  double copied = 0, computed = 0;
  for (std::int64_t i = 0; i < steps; ++i) {
    double& buffer = freed[static_cast<std::size_t>(i % buffers)];
    copied = std::max(copied, buffer) + step.copy_ns;
    computed = std::max(copied, computed) + step.compute_ns;
    buffer = computed;
  }
  return computed;
}

std::optional<double> copy_ns(std::int64_t bytes, const Gpu& gpu) { return of_one_sm(static_cast<double>(bytes), gpu.memory_bytes_per_s, gpu); }

std::optional<double> product_ns(double flops, const Gpu& gpu) { return of_one_sm(flops, gpu.tensor_flops, gpu); }

}  // namespace kiln::generators::cuda::resources
