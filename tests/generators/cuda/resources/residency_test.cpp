#include "generators/cuda/resources/residency.h"

#include <gtest/gtest.h>

#include "tests/generators/cuda/resources/gpus.h"

namespace kiln::generators::cuda::resources {
namespace {

using Limits = std::vector<Limit>;

TEST(Residency, the_scarcest_resource_decides) {
  const Gpu& h200 = gpu_named("h200");
  const Residency by_threads = residency({.threads = 1024, .registers = 32, .shared_bytes = 1024}, h200);
  EXPECT_EQ(by_threads.blocks, 2);
  EXPECT_EQ(by_threads.binds, (Limits{Limit::threads, Limit::registers}));
  EXPECT_EQ(by_threads.occupancy, 1.0);
  const Residency by_blocks = residency({.threads = 32, .registers = 16}, h200);
  EXPECT_EQ(by_blocks.blocks, 32);
  EXPECT_EQ(by_blocks.binds, Limits{Limit::blocks});
  EXPECT_EQ(by_blocks.occupancy, 0.5);
  const Residency by_barriers = residency({.threads = 64, .registers = 16, .barriers = 16}, h200);
  EXPECT_EQ(by_barriers.blocks, 4);
  EXPECT_EQ(by_barriers.binds, Limits{Limit::barriers});
}

// The ring's usual block: all registers of the SM, nearly all of its shared memory.
TEST(Residency, a_ring_block_has_the_sm_to_itself) {
  const Residency ring = residency({.threads = 384, .registers = 168, .shared_bytes = 230464}, gpu_named("h200"));
  EXPECT_EQ(ring.blocks, 1);
  EXPECT_EQ(ring.binds, (Limits{Limit::registers, Limit::shared_bytes}));
  EXPECT_EQ(ring.warps, 12);
}

TEST(Residency, a_warps_registers_lie_in_one_partition) {
  // 23 warps of 88 registers fit into 65,536, but only 5 into each quarter.
  EXPECT_EQ(residency({.threads = 32, .registers = 88}, gpu_named("h200")).by_registers, 20);
  EXPECT_EQ(residency({.threads = 32, .registers = 81}, gpu_named("h200")).by_registers, 20);  // given out in eights
  EXPECT_EQ(residency({.threads = 33, .registers = 88}, gpu_named("h200")).by_registers, 10);  // in whole warps
}

TEST(Residency, every_block_costs_what_cuda_reserves) {
  EXPECT_EQ(residency({.threads = 128, .shared_bytes = 115712}, gpu_named("h200")).by_shared_bytes, 2);
  EXPECT_EQ(residency({.threads = 128, .shared_bytes = 115713}, gpu_named("h200")).by_shared_bytes, 1);
  EXPECT_EQ(shared_bytes_of_a_block(gpu_named("h200"), 2), 115712);
  EXPECT_EQ(shared_bytes_of_a_block(gpu_named("h200"), 1), 232448);
  EXPECT_EQ(residency({.threads = 128}, gpu_named("a100")).by_shared_bytes, 164);
}

TEST(Residency, unknown_registers_limit_nothing) {
  const Residency unknown = residency({.threads = 1024, .registers = 0}, gpu_named("h200"));
  EXPECT_EQ(unknown.blocks, 2);
  EXPECT_EQ(unknown.binds, Limits{Limit::threads});
}

TEST(Residency, an_oversized_block_is_told_with_both_numbers) {
  const Gpu& h200 = gpu_named("h200");
  EXPECT_EQ(said(find_oversized({.threads = 1024, .registers = 64, .shared_bytes = 232448}, h200)), "legal");
  EXPECT_EQ(said(find_oversized({.threads = 1056}, h200)), "over_threads 1056 > 1024: a block has 1,056 threads; one block may have 1,024");
  EXPECT_EQ(said(find_oversized({.threads = 128, .registers = 256}, h200)),
            "over_registers 256 > 255: a thread needs 256 registers; one thread may have 255");
  EXPECT_EQ(said(find_oversized({.threads = 384, .registers = 176}, h200)),
            "over_registers 67584 > 65536: 384 threads of 176 registers need 67,584; one block may have 65,536: at most 168 a thread");
  EXPECT_EQ(said(find_oversized({.threads = 384, .registers = 168, .shared_bytes = 245760}, h200)),
            "over_shared 245760 > 232448: a block needs 245,760 bytes of shared memory; one block may use 232,448");
}

TEST(Residency, the_words_of_the_limits_are_for_people) {
  EXPECT_EQ(print(Limit::threads), "threads");
  EXPECT_EQ(print(Limit::shared_bytes), "shared memory");
  EXPECT_EQ(print(Limit::barriers), "barriers");
}

}  // namespace
}  // namespace kiln::generators::cuda::resources
