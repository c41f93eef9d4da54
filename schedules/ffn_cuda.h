// The space of a feed-forward layer on a GPU with tensor cores: where its kernels end, and how each of them runs. Two products of the same rows and what comes of
// them, in one kernel or three; then a product of that.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

inline constexpr const char* kFeedForward = "ffn_cuda";  // the space's name

// Whether the algorithm is one, of bf16 or f16, and the device has the instruction.
bool is_feed_forward(const Algorithm& algorithm, const Device& device);

// Unsatisfiable where rows of a matrix do not begin at 16 bytes.
Space ffn_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device);

}  // namespace kiln::schedules
