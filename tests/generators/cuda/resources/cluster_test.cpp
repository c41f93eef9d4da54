#include "generators/cuda/resources/cluster.h"

#include <gtest/gtest.h>

#include "generators/cuda/resources/waves.h"
#include "tests/generators/cuda/resources/gpus.h"

namespace kiln::generators::cuda::resources {
namespace {

TEST(Cluster, whole_clusters_of_tiles_are_legal) {
  EXPECT_EQ(said(find_illegal_cluster({2, 1}, 8, 3, gpu_named("h200"))), "legal");
  EXPECT_EQ(said(find_illegal_cluster({2, 4}, 8, 12, gpu_named("h200"))), "legal");
  EXPECT_EQ(said(find_illegal_cluster({1, 1}, 7, 3, gpu_named("a100"))), "legal");
}

TEST(Cluster, what_cannot_be_launched_is_told) {
  EXPECT_EQ(said(find_illegal_cluster({4, 4}, 8, 8, gpu_named("h200"))), "over_grid 16 > 8: a cluster of 4 x 4 = 16 blocks; every launch may have 8");
  EXPECT_EQ(said(find_illegal_cluster({2, 1}, 8, 8, gpu_named("a100"))), "over_grid 2 > 1: sm_80 has no clusters; they need compute capability 9.0");
  EXPECT_EQ(said(find_illegal_cluster({2, 1}, 5, 8, gpu_named("h200"))),
            "over_grid 5 > 4: 5 tiles along m do not divide among clusters of 2: 1 would wait for partners; clusters of 1 along m always do");
  EXPECT_EQ(said(find_illegal_cluster({1, 4}, 5, 7, gpu_named("h200"))),
            "over_grid 7 > 4: 7 tiles along n do not divide among clusters of 4: 3 would wait for partners; clusters of 1 along n always do");
}

TEST(Cluster, a_persistent_grid_is_whole_clusters_and_no_more_than_there_is_work_for) {
  EXPECT_EQ(persistent_blocks({1, 1}, 132, 3072), 132);
  EXPECT_EQ(persistent_blocks({2, 1}, 65, 3072), 130);
  EXPECT_EQ(persistent_blocks({2, 1}, 66, 7), 8);
}

// N = 12288 on 132 SMs, one block on each: powers of two leave SMs idle where m is small.
TEST(Waves, tile_widths_decide_how_many_sms_work) {
  struct Row {
    std::int64_t m;
    Tile tile;
    double percent;
  };
  for (const Row& row : {Row{64, {64, 96, 64}, 97}, Row{128, {128, 96, 64}, 97}, Row{128, {64, 192, 64}, 97}, Row{128, {128, 256, 64}, 36},
                         Row{64, {128, 256, 64}, 36}, Row{256, {128, 192, 64}, 97}, Row{256, {256, 96, 64}, 97}, Row{256, {128, 256, 64}, 73}, Row{512, {256, 192, 64}, 97},
                         Row{1024, {256, 192, 64}, 97}, Row{2048, {256, 192, 64}, 97}, Row{4096, {256, 128, 64}, 97}, Row{8192, {128, 256, 64}, 97}}) {
    const Waves grid = waves(tiles_of(row.m, 12288, row.tile), 1, gpu_named("h200"));
    EXPECT_NEAR(100 * grid.used, row.percent, 0.5) << row.m << " " << row.tile.m << " " << row.tile.n;
  }
}

TEST(Waves, blocks_come_in_turns) {
  const Waves grid = waves(397, 2, gpu_named("h200"));
  EXPECT_EQ(grid.at_once, 264);
  EXPECT_EQ(grid.waves, 2);
  EXPECT_DOUBLE_EQ(grid.used, 397.0 / 528);
  EXPECT_EQ(tiles_of(129, 192, {128, 192, 64}), 2);
}

}  // namespace
}  // namespace kiln::generators::cuda::resources
