// What a tensor copy (TMA) may copy: the demands of cuTensorMapEncodeTiled, known before there is a pointer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/device.h"
#include "generators/rejection.h"

namespace kiln::generators::cuda::resources {

// A tensor in memory, dimension 0 innermost and dense, and the box of it that one copy moves.
struct TensorBox {
  int element_bytes = 2;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> pitches_bytes;   // from dimension 1 on: one fewer than extents
  std::vector<std::int64_t> box;             // elements, as many as extents
  int swizzle_bytes = 128;                   // 0 (none), 32, 64 or 128
  std::int64_t alignment_bytes = 16;         // what the address is a multiple of
};

// What one copy moves; all of it counts for the barrier, elements outside the tensor too.
std::int64_t box_bytes(const TensorBox& box);

// What the box's place in shared memory must be a multiple of: there the swizzle's pattern begins.
int box_alignment_bytes(int swizzle_bytes);

// The first demand that is not met, with what would meet it; nothing when all are.
std::optional<Rejection> find_illegal_box(const TensorBox& box, const Gpu& gpu);

}  // namespace kiln::generators::cuda::resources
