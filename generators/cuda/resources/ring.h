// The dynamic shared memory of a ring: stages of both operands, the output on its way to memory, barriers. ptxas does not report it.
#pragma once

#include <cstdint>
#include <optional>

#include "dsl/device.h"
#include "generators/cuda/resources/tile.h"
#include "generators/rejection.h"

namespace kiln::generators::cuda::resources {

struct Ring {
  Tile tile;                      // m x n results of a block; k deep in one stage
  int element_bytes = 2;          // of both operands
  int stages = 4;
  int scaled_rows = 0;            // whose f32 scales come with each stage; 0: none
  std::int64_t store_bytes = 0;   // the two below; 0: the output goes to memory from registers
};

// Sub-tiles of 64 x 64 outputs, `buffers` of them for each consumer.
std::int64_t store_bytes_of_sub_tiles(int consumers, int buffers, int output_bytes);
// The whole tile at once.
std::int64_t store_bytes_of_tile(const Tile& tile, int output_bytes);

std::int64_t stage_bytes(const Ring& ring);

// All of it, with the 1,024 bytes at most that aligning the start may cost.
std::int64_t shared_bytes(const Ring& ring);

// The largest number of stages with which `blocks_per_sm` such blocks fit on an SM; 0 when not even one does.
int most_stages(Ring ring, const Gpu& gpu, int blocks_per_sm = 1);

// Why the ring does not fit, with the number of stages that would; nothing when it does.
std::optional<Rejection> find_too_deep(const Ring& ring, const Gpu& gpu, int blocks_per_sm = 1);

}  // namespace kiln::generators::cuda::resources
