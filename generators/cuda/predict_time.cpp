#include "generators/cuda/predict_time.h"

#include <algorithm>

#include "dsl/capability.h"
#include "dsl/error.h"
#include "generators/cuda/lower.h"

namespace kiln::generators::cuda {

resources::RingWork work_of(const RingPlan& plan) {
  // Of two products both matrices lie along one side, as in a tile, and an element of the output is made of two sums.
  const auto along = [](const RingSide& side, const KernelAxis& axis) { return axis.extent * static_cast<std::int64_t>(side.operands.size()); };
  const std::int64_t tall = along(plan.p, plan.axis_of_p()), wide = along(plan.q, plan.axis_of_q());
  const RingSide& larger = tall > wide ? plan.p : plan.q;
  return {.ring = plan.ring(),
          .tall = tall,
          .wide = wide,
          .terms = plan.computation.terms->extent,
          .output_bytes = static_cast<double>(plan.output().type.bytes()) / plan.products(),
          .consumers = plan.consumers,
          .takes_turns = plan.is_pingpong,
          .is_promoted = plan.is_promoted(),
          .parts = plan.parts,
          .blocks_per_sm = std::max(1, plan.blocks_per_sm),
          .is_persistent = plan.is_persistent,
          .is_dependent = plan.is_dependent,
          .is_grouped_along_wide = plan.raster_along_q,
          .group = plan.raster_group,
          .is_evicted_first = larger.is_evicted_first,
          .fetched_bytes = larger.l2_promotion_bytes};
}

std::optional<resources::RingTime> predict_time(const KernelPlan& plan, const Gpu& gpu) {
  if (plan.ring() == nullptr) return std::nullopt;
  return resources::ring_time(work_of(*plan.ring()), gpu);
}

namespace {

// Of an H200's 4.8 TB/s such kernels reach 4.3 (1,024 and 7,239 rows of silu(g) · u); a call of nearly nothing takes 1.1 us, or 0.85 where it may begin early.
constexpr double kStreamShare = 0.9, kCall_ns = 1100, kDependentCall_ns = 850;

// Element by element: every byte once.
double element_wise_ns(const StreamPlan& plan, const Gpu& gpu) {
  double elements = 1, bytes = 0;
  for (const KernelAxis& axis : plan.computation.axes) elements *= static_cast<double>(axis.extent);
  for (const Operand& one : plan.computation.operands)
    if (one.reach == Reach::every) bytes += elements * one.type.bytes();
  return (plan.is_dependent ? kDependentCall_ns : kCall_ns) + bytes / (kStreamShare * static_cast<double>(gpu.memory_bytes_per_s)) * 1e9;
}

std::optional<double> ns_of(const KernelPlan& plan, const Gpu& gpu) {
  if (plan.stream() != nullptr && plan.stream()->shape == StreamPlan::Shape::flat && gpu.memory_bytes_per_s > 0) return element_wise_ns(*plan.stream(), gpu);
  const auto time = predict_time(plan, gpu);
  return time ? std::optional(time->ns) : std::nullopt;
}

}  // namespace

std::optional<double> predict_ns(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Gpu& gpu) {
  double ns = 0;
  try {
    for (const KernelPlan& plan : plan_kernels(algorithm, schedule, problem, capability_of(gpu))) {
      const std::optional<double> one = ns_of(plan, gpu);
      if (!one) return std::nullopt;
      ns += *one;
    }
  } catch (const ScheduleError&) {
    return std::nullopt;
  }
  return ns;
}

}  // namespace kiln::generators::cuda
