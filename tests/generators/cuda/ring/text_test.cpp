// The kernels of the ring skeleton as people read them.
#include <gtest/gtest.h>

#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/launch_record.h"
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

// What another kernel makes of it: the product is written to a buffer between, by its tensor map.
TEST(RingText, a_product_may_be_one_of_several_kernels) {
  Algorithm algorithm = dot_by_terms();
  Stage product = algorithm.stages.back();
  product.name = "product";
  Stage y = algorithm.stages.back();
  y.values = {parse_expression("(cast bf16 (max f32 (cast f32 (load bf16 product 0 n m)) (constant f32 0)))")};
  algorithm.stages.back() = product;
  algorithm.stages.push_back(y);
  const std::string schedule = "y.rows(1, 64).vector(8).dependent_launch()\nproduct.compute_root().tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\n"
                               "c.compute_at(product, no)\nc.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n";
  const Program program = lowered(algorithm, "dot_by_terms(m=256, n=512, k=1024)", schedule);
  ASSERT_EQ(program.kernels.size(), 2u);
  EXPECT_NE(program.kernels[0].plan.ring(), nullptr);
  EXPECT_NE(program.kernels[1].plan.stream(), nullptr);
  ASSERT_EQ(program.intermediates.size(), 1u);
  const auto record = launch_record(program);
  EXPECT_EQ(record.kernels[0].parameters[2].kind, generators::cuda::LaunchParameter::Kind::map);
  EXPECT_EQ(record.kernels[0].parameters[2].name, "product");
  const std::string text = program.text();
  EXPECT_NE(text.find("namespace of_dot_by_terms_product {"), std::string::npos) << text;
  EXPECT_NE(text.find("#include \"wgmma_bf16.cuh\""), std::string::npos) << text;
}

TEST(RingText, codes_are_added_up_outside_the_tensor_cores) {
  const std::string schedule = std::string("y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\nc.compute_at(y, no)\n"
                                           "c.update(0).split(k, ko, ki, 128).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n");
  expect_golden(page(lowered(dot_of_codes(), "dot_of_codes(m=1024, n=4096, k=4096)", schedule)), "cuda/ring_codes.txt");
}

TEST(RingText, of_two_groups_of_codes_one_is_added_while_the_other_is_multiplied) {
  const std::string schedule = std::string("y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\nc.compute_at(y, no)\n"
                                           "c.update(0).split(k, ko, ki, 256).stage_in(ko, shared, 3).tensorize(ki, wgmma)\n");
  expect_golden(page(lowered(dot_of_codes(), "dot_of_codes(m=1024, n=4096, k=4096)", schedule)), "cuda/ring_deep_codes.txt");
}

TEST(RingText, plain_sums_of_codes_stay_in_the_tensor_cores) {
  Algorithm algorithm = dot_of_codes();
  algorithm.contract = Contract::free;
  const std::string schedule = std::string("y.tile(n, m, no, mo, ni, mi, 192, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, pingpong).persistent()\nc.compute_at(y, no)\n"
                                           "c.update(0).split(k, ko, ki, 128).stage_in(ko, shared, 4).tensorize(ki, wgmma, plain)\n");
  expect_golden(page(lowered(algorithm, "dot_of_codes(m=1024, n=4096, k=4096)", schedule)), "cuda/ring_plain_codes.txt");
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
