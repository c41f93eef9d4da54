// What a tensor copy is told of a tensor: an argument of the kernel, made for each pointer anew.
#pragma once

#include <cstdint>
#include <vector>

#include "dsl/dtype.h"
#include "generators/cuda/driver/driver.h"

namespace kiln::generators::cuda::driver {

// Dimension 0 is innermost and dense. What the numbers must be: generators/cuda/resources/tensor_box.h.
struct TiledTensor {
  DType type;
  Address address = 0;
  std::vector<std::uint64_t> extents;
  std::vector<std::uint64_t> pitches_bytes;  // from dimension 1 on
  std::vector<std::uint32_t> box;
  int swizzle_bytes = 128;                   // 0, 32, 64 or 128
  int l2_promotion_bytes = 0;                // what L2 fetches at once: 0 (no more than is asked for), 64, 128 or 256
};

// CUtensorMap. The kernel's parameter is `const __grid_constant__ TensorMap`.
struct alignas(64) TensorMap {
  char bytes[128];
};

// Throws DriverError when the driver refuses the numbers.
TensorMap encode(const Driver& driver, const TiledTensor& tensor);

}  // namespace kiln::generators::cuda::driver
