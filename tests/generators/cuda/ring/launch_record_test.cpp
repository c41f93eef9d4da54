// What a ring's callers are told: tensor maps, grids that stop at what runs at once, constants of the launch.
#include "generators/cuda/launch_record.h"

#include <gtest/gtest.h>

#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "tests/autotune/cli/golden.h"
#include "tests/generators/cuda/stream/algorithms.h"
#include "tests/generators/cuda/stream/lowered.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;

constexpr const char* kSum = "c.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)";
const std::string kOnce = std::string("y.tile(n, m, no, mo, ni, mi, 192, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\n") + kSum;
const std::string kPersistent =
    std::string("y.tile(n, m, no, mo, ni, mi, 192, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, pingpong).persistent().raster(mo, 8).l2_promotion(x, 128).evict(w, first)\n") + kSum;
const std::string kParts = kOnce + ".split_reduction(ko, 3, fixed)";

TEST(RingLaunchRecord, says_what_the_plan_does_and_parses_back) {
  for (const std::string& schedule : {kOnce, kPersistent, kParts}) {
    SCOPED_TRACE(schedule);
    const Lowered one(dot_by_columns(), "dot_by_columns(m=1000, n=1928, k=1024)", schedule);
    EXPECT_EQ(cuda::parse_launch_record(print(one.record)), one.record);
    for (const int sms : {1, 7, 132}) EXPECT_EQ(cuda::blocks(one.record.kernels.front(), one.extents(), sms), one.program.kernels.front().plan.blocks(sms));
    EXPECT_EQ(one.record.kernels.front().shared_bytes, one.program.kernels.front().plan.shared_bytes());
    EXPECT_EQ(cuda::find_unmet(one.record, one.extents()), std::nullopt);
  }
}

// Tiles are 8 by 11.
TEST(RingLaunchRecord, a_grid_has_a_block_a_tile_or_what_runs_at_once_or_all_parts) {
  const auto blocks_of = [](const std::string& schedule, int sms) {
    const Lowered one(dot_by_columns(), "dot_by_columns(m=1000, n=1928, k=1024)", schedule);
    return cuda::blocks(one.record.kernels.front(), one.extents(), sms);
  };
  EXPECT_EQ(blocks_of(kOnce, 7), 88);
  EXPECT_EQ(blocks_of(kPersistent, 7), 7);
  EXPECT_EQ(blocks_of(kPersistent, 132), 88);
  EXPECT_EQ(blocks_of(kParts, 7), 264);
}

TEST(RingLaunchRecord, is_readable) { expect_golden(print(Lowered(dot_by_columns(), "dot_by_columns(m=1000, n=1928, k=1024)", kPersistent).record) + "\n", "cuda/ring_launch.json"); }

TEST(RingLaunchRecord, rows_that_begin_at_no_sixteen_bytes_are_refused) {
  const Lowered one(dot_by_columns(), "dot_by_columns(m=1000, n=1928, k=1024)", kOnce);
  const auto unmet = [&](const char* problem_text) {
    const Problem problem = resolve(parse_problem_text(problem_text), one.algorithm);
    return cuda::find_unmet(one.record, [&](const Axis& place) { return extent_of(problem, one.algorithm, place.argument, place.dimension); }).value_or("");
  };
  EXPECT_EQ(unmet("dot_by_columns(m=3, n=8, k=8)"), "");
  EXPECT_EQ(unmet("dot_by_columns(m=3, n=12, k=8)"), "y.0 is 12, no multiple of 8");
  EXPECT_EQ(unmet("dot_by_columns(m=3, n=8, k=12)"), "x.0 is 12, no multiple of 8");
}

}  // namespace
}  // namespace kiln::tests
