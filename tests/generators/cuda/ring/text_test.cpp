// The kernels of the ring skeleton as people read them.
#include <gtest/gtest.h>

#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/lower.h"
#include "tests/autotune/cli/golden.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

using generators::cuda::lower;
using generators::cuda::Program;

Program lowered(const Algorithm& algorithm, const char* problem, const std::string& schedule) {
  return lower(algorithm, parse_schedule(schedule), resolve(parse_problem_text(problem), algorithm));
}

// Computation, plan and text of every kernel.
std::string page(const Program& program) {
  std::string text;
  for (const generators::cuda::Kernel& kernel : program.kernels) text += print(kernel.plan.computation()) + print(kernel.plan) + "\n";
  return text + program.text();
}

constexpr const char* kSum = "c.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n";

TEST(RingText, two_consumers_share_a_tile) {
  const std::string schedule = std::string("y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).persistent().raster(mo, 8)\n") + kSum;
  expect_golden(page(lowered(dot_by_columns(), "dot_by_columns(m=4096, n=12288, k=4096)", schedule)), "cuda/ring_cooperative.txt");
}

TEST(RingText, two_consumers_take_tiles_in_turn) {
  const std::string schedule = std::string("y.tile(n, m, no, mo, ni, mi, 192, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, pingpong).store_through(shared, 2).persistent().raster(no, 8)\n") + kSum;
  expect_golden(page(lowered(dot_by_terms(), "dot_by_terms(m=4096, n=12288, k=4096)", schedule)), "cuda/ring_pingpong.txt");
}

TEST(RingText, few_rows_take_the_wide_side) {
  const std::string schedule =
      "y.tile(n, m, no, mo, ni, mi, 128, 16, GuardWithIf).gpu_blocks(no, mo).warps(1, 1, cooperative).swap_operands().blocks_per_sm(2).l2_promotion(w, 128).evict(w, first).dependent_launch()\n"
      "c.compute_at(y, no)\nc.update(0).split(k, ko, ki, 128).stage_in(ko, shared, 3).tensorize(ki, wgmma)\n";
  expect_golden(page(lowered(dot_by_columns(), "dot_by_columns(m=13, n=12288, k=4096)", schedule)), "cuda/ring_swapped.txt");
}

TEST(RingText, blocks_of_a_cluster_share_the_terms) {
  const std::string schedule = "y.tile(n, m, no, mo, ni, mi, 64, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\n"
                               "c.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 6).tensorize(ki, wgmma).split_reduction(ko, 4, fixed)\n";
  expect_golden(page(lowered(dot_by_terms(), "dot_by_terms(m=256, n=4096, k=12288)", schedule)), "cuda/ring_parts.txt");
}

// What differs between their launches alone is in no text: one build serves all extents, groups, hints, and both grids.
TEST(RingText, problems_and_launches_share_a_text) {
  const std::string once = std::string("y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\n") + kSum;
  const std::string launches =
      std::string("y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).persistent().raster(no, 16).evict(w, first).l2_promotion(x, 64).dependent_launch()\n") + kSum;
  EXPECT_EQ(lowered(dot_by_terms(), "dot_by_terms(m=4096, n=12288, k=4096)", once).text(), lowered(dot_by_terms(), "dot_by_terms(m=3, n=8, k=16)", launches).text());
}

}  // namespace
}  // namespace kiln::tests
