#include "schedules/ring_room.h"

#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// What a consumer stores at once beside 64 along the tall side: as generators/cuda/plan has it.
std::int64_t chunk_of(const RingStore& store) {
  const std::int64_t wide = store.wide;
  if (store.is_swapped) return wide % 64 == 0 ? 64 : wide % 32 == 0 ? 32 : wide;
  for (const std::int64_t chunk : {128, 64, 32})
    if (chunk * store.output_bytes <= 128 && wide % chunk == 0) return chunk;
  return 16;
}

}  // namespace

std::int64_t round_up(std::int64_t number, std::int64_t step) { return ceil_div(number, step) * step; }

std::int64_t ring_shared_bytes(const RingTile& tile, const RingStore& store) {
  const std::int64_t ring = tile.stages * (tile.tall + tile.wide) * tile.depth * tile.element_bytes;
  const std::int64_t buffers = store.consumers * store.buffers * 64 * chunk_of(store) * store.output_bytes;
  return round_up(ring, 1024) + round_up(buffers, 1024) + tile.stages * 16 + 1024;
}

std::int64_t most_ring_sums(std::int64_t consumers, std::int64_t blocks_per_sm) {
  if (consumers == 3) return 144;
  return blocks_per_sm > 1 ? 80 : 208;
}

}  // namespace kiln::schedules
