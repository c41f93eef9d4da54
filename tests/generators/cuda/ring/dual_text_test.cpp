// Two products in one kernel, as people read it, and what its callers are told.
#include <gtest/gtest.h>

#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "tests/autotune/cli/golden.h"
#include "tests/generators/cuda/stream/algorithms.h"
#include "tests/generators/cuda/stream/lowered.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;

// Both sums at tiles of y.
std::string sums(int depth, int stages) {
  std::string text;
  for (const std::string sum : {"gate_sum", "up_sum"})
    text += sum + ".compute_at(y, no)\n" + sum + ".update(0).split(k, ko, ki, " + std::to_string(depth) + ").stage_in(ko, shared, " + std::to_string(stages) + ").tensorize(ki, wgmma)\n";
  return text;
}

const std::string kInTurn =
    "y.tile(n, m, no, mo, ni, mi, 64, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, pingpong).persistent().raster(mo, 8).evict(wg, first).evict(wu, first)\n" + sums(64, 6);
const std::string kSwapped = "y.tile(n, m, no, mo, ni, mi, 128, 16, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).swap_operands().l2_promotion(wg, 128).l2_promotion(wu, 128)\n" + sums(128, 2);

std::string page(const cuda::Program& program) {
  return print(program.kernels.front().plan.computation()) + print(program.kernels.front().plan) + "\n" + program.text();
}

TEST(DualText, two_products_share_a_wgmma) {
  const Lowered one(gated_by_columns(), "gated_by_columns(m=4096, n=12288, k=4096)", kInTurn);
  ASSERT_EQ(one.program.kernels.size(), 1u);
  expect_golden(page(one.program), "cuda/ring_dual.txt");
}

TEST(DualText, of_few_rows_two_products_are_two_wgmmas) {
  const Lowered one(gated_by_terms(), "gated_by_terms(m=13, n=12288, k=4096)", kSwapped);
  expect_golden(page(one.program), "cuda/ring_dual_swapped.txt");
}

// Tiles of 128 × 64 results: 32 by 192 of them, whatever a wgmma takes at once.
TEST(DualLaunchRecord, has_a_map_for_each_matrix_and_a_block_for_each_tile_of_results) {
  const Lowered one(gated_by_columns(), "gated_by_columns(m=4096, n=12288, k=4096)", kInTurn);
  const cuda::KernelLaunch& kernel = one.record.kernels.front();
  EXPECT_EQ(cuda::parse_launch_record(print(one.record)), one.record);
  std::vector<std::string> maps;
  for (const cuda::LaunchParameter& parameter : kernel.parameters)
    if (parameter.kind == cuda::LaunchParameter::Kind::map) maps.push_back(parameter.name);
  EXPECT_EQ(maps, (std::vector<std::string>{"x", "wg", "wu", "y"}));
  EXPECT_EQ(cuda::blocks(kernel, one.extents(), 1 << 20), 32 * 192);
  EXPECT_EQ(cuda::blocks(kernel, one.extents(), 132), 132);
  // Six stages of 16 KiB of x and 8 of each matrix, two buffers of each of two consumers, barriers, and what alignment may cost.
  EXPECT_EQ(kernel.shared_bytes, 6 * (16384 + 2 * 8192) + 4 * 8192 + 6 * 16 + 1024);
}

}  // namespace
}  // namespace kiln::tests
