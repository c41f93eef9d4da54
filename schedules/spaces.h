// Which space serves an algorithm: a shipped one where its structure is recognised, the sketch for everything else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

// A space with at least one seed; on a GPU nothing for an algorithm that no kernel computes, and without points (Space::unsatisfiable says why) where none computes this
// problem of it. Calls no Halide: the supervisor may use it.
std::optional<Space> space_for(const Algorithm& algorithm, const Problem& problem, const Device& device);

// Whether its points are kernels whose time can be told from their plans: products by tensor cores, and what is made of them element by element.
bool is_of_tensor_products(const Space& space);

struct ShippedSpace {
  std::string name;      // "matmul_host"
  std::string serves;    // one sentence: what an algorithm looks like for this space to be taken
};
std::vector<ShippedSpace> shipped_spaces();

// A schedule that is right for every extent, 1 included: all splits guarded. What a package's generic variant falls back to when no tuned
// schedule is free of demands on the extents. Throws UsageError when the device is no CPU.
Schedule any_extent_schedule(const Algorithm& algorithm, const Device& device);

}  // namespace kiln::schedules
