#include "schedules/spaces.h"

#include <algorithm>

#include "schedules/matmul_host.h"
#include "schedules/placement.h"
#include "schedules/sketch.h"
#include "schedules/structure.h"

namespace kiln::schedules {

std::optional<Space> space_for(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  if (device.kind != "cpu") return std::nullopt;
  if (const auto product = find_contraction(algorithm, problem)) return matmul_host(*product, reference(algorithm, product->b), device);
  return sketch(algorithm, problem, device);
}

std::vector<ShippedSpace> shipped_spaces() {
  return {
      {"matmul_host", "one product(n, m) += a(k, m) * b(n, k), and point by point from there to one output"},
      {"sketch", "any algorithm"},
  };
}

Schedule any_extent_schedule(const Algorithm& algorithm, const Device& device) {
  Schedule schedule;
  for (const Stage& stage : algorithm.stages) {
    const bool is_output = algorithm.is_output(stage.name);
    // Pure stages stay inlined; what has updates must be computed somewhere, and root is right for every reader.
    if (is_wrapper(algorithm, stage) || (!is_output && stage.updates.empty())) continue;
    if (!is_output) Chain(schedule, stage.name).add("compute_root");
    LoopStyle style;
    style.lanes = stage.types.empty() ? 1 : lanes_of(device, stage.types[0]);
    style.loop_inside = true;
    schedule_definitions(schedule, stage, style, true);
  }
  return schedule;
}

}  // namespace kiln::schedules
