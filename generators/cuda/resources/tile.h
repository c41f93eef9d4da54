// A block of a product: m x n results, each a sum over k; and how many instructions of one shape it takes.
#pragma once

#include <cstdint>

#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda::resources {

struct Tile {
  int m = 0, n = 0, k = 0;
};

// Instructions of shape `instruction` (mma.sync m16n8k16; wgmma m64nNk16) that cover the tile; at its edge they are whole.
inline std::int64_t mma_count(const Tile& tile, const Tile& instruction) {
  return divided_up(tile.m, instruction.m) * divided_up(tile.n, instruction.n) * divided_up(tile.k, instruction.k);
}

}  // namespace kiln::generators::cuda::resources
