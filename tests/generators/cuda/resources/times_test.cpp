#include <gtest/gtest.h>

#include "generators/cuda/resources/in_flight.h"
#include "generators/cuda/resources/pipeline.h"
#include "generators/cuda/resources/tile.h"
#include "tests/generators/cuda/resources/gpus.h"

namespace kiln::generators::cuda::resources {
namespace {

TEST(InFlight, more_loads_a_thread_need_fewer_warps) {
  const Gpu& h200 = gpu_named("h200");
  std::int64_t before = 1000;
  for (const int loads : {1, 2, 4, 8}) {
    const auto flight = in_flight({.warps = 16, .block_warps = 8, .loads_per_thread = loads}, 700, h200);
    EXPECT_EQ(flight->bytes, 16 * loads * 512);
    EXPECT_DOUBLE_EQ(flight->needed_bytes, 4.8e12 * 700e-9 / 132);
    EXPECT_LT(flight->warps_needed, before);
    EXPECT_GE(static_cast<double>(flight->warps_needed * loads * 512), flight->needed_bytes);
    EXPECT_LT(static_cast<double>((flight->warps_needed - 1) * loads * 512), flight->needed_bytes);
    before = flight->warps_needed;
  }
}

TEST(InFlight, what_is_not_known_is_absent) {
  Gpu unknown = gpu_named("h200");
  unknown.memory_bytes_per_s = unknown.tensor_flops = 0;
  EXPECT_FALSE(in_flight({.warps = 16, .block_warps = 8}, 700, unknown).has_value());
  EXPECT_EQ(copy_ns(1024, unknown), std::nullopt);
  EXPECT_EQ(product_ns(1024, unknown), std::nullopt);
}

TEST(Pipeline, the_slower_half_hides_the_other) {
  EXPECT_DOUBLE_EQ(pipeline_ns({.copy_ns = 3, .compute_ns = 2}, 10, 1), 50);
  EXPECT_DOUBLE_EQ(pipeline_ns({.copy_ns = 3, .compute_ns = 2}, 10, 2), 3 + 9 * 3 + 2);
  EXPECT_DOUBLE_EQ(pipeline_ns({.copy_ns = 2, .compute_ns = 3}, 10, 2), 2 + 9 * 3 + 3);
  EXPECT_DOUBLE_EQ(pipeline_ns({.copy_ns = 2, .compute_ns = 3}, 1, 4), 5);
  EXPECT_DOUBLE_EQ(pipeline_ns({.copy_ns = 2, .compute_ns = 3}, 0, 2), 0);
}

TEST(Mma, instructions_at_the_edge_are_whole) {
  EXPECT_EQ(mma_count({128, 128, 64}, {64, 128, 16}), 8);
  EXPECT_EQ(mma_count({65, 8, 17}, {64, 8, 16}), 4);
}

}  // namespace
}  // namespace kiln::generators::cuda::resources
