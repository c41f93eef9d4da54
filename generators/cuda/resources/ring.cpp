#include "generators/cuda/resources/ring.h"

#include <fmt/format.h>

#include "generators/cuda/resources/residency.h"

namespace kiln::generators::cuda::resources {
namespace {

// The pattern of the 128-byte swizzle repeats after eight rows: tiles begin at multiples of it, and so must the first byte.
constexpr std::int64_t kAlignment = 1024;
// Copies by TMA go to multiples of 128 bytes (CUDA C++ Programming Guide, "Tensor Memory Access").
constexpr std::int64_t kCopyAlignment = 128;
// Of a stage: that it is full, that it is empty; an mbarrier has 8 bytes (PTX ISA, "mbarrier").
constexpr std::int64_t kBarrierBytes = 2 * 8;
constexpr std::int64_t kSubTile = 64;

}  // namespace

std::int64_t store_bytes_of_sub_tiles(int consumers, int buffers, int output_bytes) {
  return std::int64_t{consumers} * buffers * kSubTile * kSubTile * output_bytes;
}

std::int64_t store_bytes_of_tile(const Tile& tile, int output_bytes) { return std::int64_t{tile.m} * tile.n * output_bytes; }

std::int64_t stage_bytes(const Ring& ring) {
  return std::int64_t{ring.tile.m + ring.tile.n} * ring.tile.k * ring.element_bytes + rounded_up(std::int64_t{4} * ring.scaled_rows, kCopyAlignment);
}

std::int64_t shared_bytes(const Ring& ring) {
  return rounded_up(ring.stages * stage_bytes(ring), kAlignment) + rounded_up(ring.store_bytes, kAlignment) + ring.stages * kBarrierBytes + kAlignment;
}

int most_stages(Ring ring, const Gpu& gpu, int blocks_per_sm) {
  const std::int64_t allowed = shared_bytes_of_a_block(gpu, blocks_per_sm);
  ring.stages = 0;
  while (true) {
    Ring deeper = ring;
    ++deeper.stages;
    if (shared_bytes(deeper) > allowed) return ring.stages;
    ring = deeper;
  }
}

std::optional<Rejection> find_too_deep(const Ring& ring, const Gpu& gpu, int blocks_per_sm) {
  const std::int64_t asked = shared_bytes(ring), allowed = shared_bytes_of_a_block(gpu, blocks_per_sm);
  if (asked <= allowed) return std::nullopt;
  const int most = most_stages(ring, gpu, blocks_per_sm);
  const Tile& tile = ring.tile;
  return beyond(Reason::over_shared, asked, allowed,
                fmt::format("a ring of {} x {} bytes needs {} bytes of shared memory with all that stands beside it; one block{} may use {}. "
                            "With tile m={} n={} k={} {}.",
                            ring.stages, grouped(stage_bytes(ring)), grouped(asked),
                            blocks_per_sm > 1 ? fmt::format(" of {} on an SM", blocks_per_sm) : "", grouped(allowed), tile.m, tile.n, tile.k,
                            most > 0 ? fmt::format("the largest number of stages that fits is {}", most) : "not even one stage fits"));
}

}  // namespace kiln::generators::cuda::resources
