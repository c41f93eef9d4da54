// The space of matrix products on a GPU with tensor cores: tiles of both operands by a ring of stages in shared memory, multiplied by warpgroups that share a
// tile or take tiles in turn.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

inline constexpr const char* kProducts = "products_cuda";  // the space's name

// Whether one output of two loops, of f32, bf16, f16 or codes of E4M3, reads, element by element, one sum over terms of products of two matrices of bf16, of f16 or of
// codes of E4M3, and the device has the instruction.
bool is_tensor_product(const Algorithm& algorithm, const Device& device);

// Unsatisfiable where rows of a matrix do not begin at 16 bytes.
Space products_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
