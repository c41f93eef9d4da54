// The space of two products of the same rows on a GPU with tensor cores, as the gate and the other half of a feed-forward layer: in one kernel, whose ring holds
// tiles of three matrices, or each in a kernel of its own and a third that reads what they stored.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

inline constexpr const char* kDualProducts = "dual_products_cuda";  // the space's name

// Whether one output of two loops is made, element by element, of two sums of products of bf16 or f16 that share their matrix of rows, and the device has the
// instruction.
bool is_dual_tensor_product(const Algorithm& algorithm, const Device& device);

// Unsatisfiable where rows of a matrix do not begin at 16 bytes.
Space dual_products_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
