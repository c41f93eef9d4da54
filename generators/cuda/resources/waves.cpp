#include "generators/cuda/resources/waves.h"

namespace kiln::generators::cuda::resources {

std::int64_t tiles_of(std::int64_t m, std::int64_t n, const Tile& tile) { return divided_up(m, tile.m) * divided_up(n, tile.n); }

Waves waves(std::int64_t blocks, std::int64_t blocks_per_sm, const Gpu& gpu) {
  Waves result;
  result.at_once = blocks_per_sm * gpu.sms;
  result.waves = divided_up(blocks, result.at_once);
  result.used = static_cast<double>(blocks) / static_cast<double>(result.waves * result.at_once);
  return result;
}

}  // namespace kiln::generators::cuda::resources
