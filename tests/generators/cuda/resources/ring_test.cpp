#include "generators/cuda/resources/ring.h"

#include <gtest/gtest.h>

#include "tests/generators/cuda/resources/gpus.h"

namespace kiln::generators::cuda::resources {
namespace {

Ring ring_of(const Tile& tile, int consumers, int buffers) {
  return {.tile = tile, .stages = 1, .store_bytes = store_bytes_of_sub_tiles(consumers, buffers, 2)};
}

TEST(Ring, the_stages_that_fit_are_those_of_kernels_that_ran) {
  struct Row {
    Tile tile;
    int consumers, buffers, stages;
  };
  // bf16; most of them won on an H200 with just as many.
  for (const Row& row : {Row{{128, 256, 64}, 2, 2, 4}, Row{{256, 192, 64}, 2, 2, 3}, Row{{128, 192, 64}, 2, 2, 4}, Row{{128, 192, 64}, 2, 1, 5},
                         Row{{192, 192, 64}, 3, 1, 4}, Row{{64, 96, 64}, 1, 2, 10}, Row{{128, 128, 64}, 2, 2, 6}, Row{{64, 128, 64}, 1, 2, 8}}) {
    const Ring ring = ring_of(row.tile, row.consumers, row.buffers);
    EXPECT_EQ(most_stages(ring, gpu_named("h200")), row.stages) << row.tile.m << " " << row.tile.n;
  }
  EXPECT_EQ(most_stages(ring_of({128, 8, 64}, 1, 1), gpu_named("h200"), 2), 6);
}

TEST(Ring, the_sum_has_every_part) {
  Ring ring = ring_of({128, 256, 64}, 2, 2);
  ring.stages = 4;
  EXPECT_EQ(stage_bytes(ring), 48 * 1024);
  EXPECT_EQ(shared_bytes(ring), 230464);
  ring.stages = 3;
  ring.store_bytes = store_bytes_of_tile(ring.tile, 2);
  EXPECT_EQ(shared_bytes(ring), 3 * 49152 + 65536 + 3 * 16 + 1024);
  EXPECT_EQ(most_stages(ring, gpu_named("h200")), 3);
  ring.element_bytes = 1;
  ring.tile.k = 128;
  ring.scaled_rows = 130;
  EXPECT_EQ(stage_bytes(ring), 49152 + 640);
}

TEST(Ring, one_stage_too_many_is_told_with_the_number_that_fits) {
  Ring ring = ring_of({256, 128, 64}, 2, 2);
  ring.stages = 4;
  EXPECT_EQ(said(find_too_deep(ring, gpu_named("h200"))), "legal");
  ring.stages = 5;
  EXPECT_EQ(said(find_too_deep(ring, gpu_named("h200"))),
            "over_shared 279632 > 232448: a ring of 5 x 49,152 bytes needs 279,632 bytes of shared memory with all that stands beside it; one block may use "
            "232,448. With tile m=256 n=128 k=64 the largest number of stages that fits is 4.");
  EXPECT_EQ(said(find_too_deep(ring, gpu_named("h200"), 2)),
            "over_shared 279632 > 115712: a ring of 5 x 49,152 bytes needs 279,632 bytes of shared memory with all that stands beside it; one block of 2 on an "
            "SM may use 115,712. With tile m=256 n=128 k=64 the largest number of stages that fits is 1.");
  ring = ring_of({512, 512, 128}, 2, 2);
  EXPECT_EQ(said(find_too_deep(ring, gpu_named("h200"))),
            "over_shared 295952 > 232448: a ring of 1 x 262,144 bytes needs 295,952 bytes of shared memory with all that stands beside it; one block may use "
            "232,448. With tile m=512 n=512 k=128 not even one stage fits.");
}

TEST(Ring, the_device_decides) {
  const Ring ring = ring_of({128, 256, 64}, 2, 2);
  EXPECT_EQ(most_stages(ring, gpu_named("a100")), 2);
  Gpu larger = gpu_named("h200");
  larger.block_shared_bytes = larger.sm_shared_bytes = 1 << 20;
  EXPECT_GT(most_stages(ring, larger), 4);
}

}  // namespace
}  // namespace kiln::generators::cuda::resources
