// What a ring's kernel takes of an SM, as the spaces of products foresee it before any plan is made: generators/cuda counts the same, and a space's tests hold the two
// against each other.
#pragma once

#include <cstdint>

namespace kiln::schedules {

std::int64_t round_up(std::int64_t number, std::int64_t step);

struct RingTile {
  std::int64_t tall = 64, wide = 64, depth = 64, stages = 2;  // in the ring, of all products together
  std::int64_t element_bytes = 2;
};

// Results on their way to memory: of each consumer so many buffers at once.
struct RingStore {
  bool is_swapped = false;
  std::int64_t wide = 64;                                     // of a tile of results
  std::int64_t output_bytes = 2, consumers = 1, buffers = 1;
};

// Of shared memory, barriers included: as generators/cuda/resources/ring.h counts.
std::int64_t ring_shared_bytes(const RingTile& tile, const RingStore& store);

// Sums of one thread that stay in registers, by what setmaxnreg or the launch bounds leave it: see generators/cuda/resources/registers.h.
std::int64_t most_ring_sums(std::int64_t consumers, std::int64_t blocks_per_sm);

}  // namespace kiln::schedules
