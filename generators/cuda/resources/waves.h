// How evenly tiles fill the SMs: the last wave of blocks may leave most of them idle.
#pragma once

#include <cstdint>

#include "dsl/device.h"
#include "generators/cuda/resources/tile.h"

namespace kiln::generators::cuda::resources {

// Tiles that cover m x n results; at the edge they are whole.
std::int64_t tiles_of(std::int64_t m, std::int64_t n, const Tile& tile);

struct Waves {
  std::int64_t at_once = 0;  // blocks that the GPU holds
  std::int64_t waves = 0;    // turns that all blocks take
  double used = 0;           // share of those turns' blocks that have work: the speed that the grid leaves of a full one
};

// All blocks alike and begun together. `blocks_per_sm` as residency.h counts them.
Waves waves(std::int64_t blocks, std::int64_t blocks_per_sm, const Gpu& gpu);

}  // namespace kiln::generators::cuda::resources
