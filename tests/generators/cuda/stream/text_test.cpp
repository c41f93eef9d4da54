// The kernels of the stream skeleton as people read them, and what recognition made of their algorithms.
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

Program lowered(const Algorithm& algorithm, const char* problem, const char* schedule) {
  return lower(algorithm, parse_schedule(schedule), resolve(parse_problem_text(problem), algorithm));
}

// Computation, plan and text of every kernel.
std::string page(const Program& program) {
  std::string text;
  for (const generators::cuda::Kernel& kernel : program.kernels) text += print(kernel.plan.computation()) + print(kernel.plan) + "\n";
  return text + program.text();
}

constexpr const char* kFlat = "y.fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\n";

TEST(StreamText, a_line_of_elements) { expect_golden(page(lowered(gate(), "gate(m=13, n=1000)", kFlat)), "cuda/gate_flat.txt"); }

// What Hopper's kernels begin with, and what rounds to E4M3 in one instruction, are not there for what is older.
TEST(StreamText, for_an_older_device_has_none_of_the_newer_instructions) {
  const Algorithm algorithm = codes();
  const Problem problem = resolve(parse_problem_text("codes(m=13, n=1000)"), algorithm);
  const auto text = [&](const Capability& capability) { return lower(algorithm, parse_schedule(kFlat), problem, capability).text(); };
  EXPECT_EQ(text({9, 0}), lower(algorithm, parse_schedule(kFlat), problem).text());
  EXPECT_EQ(text({10, 0}), text({9, 0}));
  EXPECT_NE(text({9, 0}).find("  pdl_launch_dependents();\n  pdl_wait();\n"), std::string::npos);
  EXPECT_EQ(text({8, 9}).find("pdl_"), std::string::npos);
  EXPECT_NE(text({8, 9}).find("e4m3"), std::string::npos);
  EXPECT_EQ(text({8, 6}).find("e4m3"), std::string::npos);
}

TEST(StreamText, a_line_of_elements_with_several_accesses_in_flight) {
  const char* schedule =
      "y.fuse(n, m, i).split(i, b, i, 4096, GuardWithIf).split(i, a, i, 2048).split(i, t, v, 8).gpu_blocks(b).unroll(a).gpu_threads(t).vectorize(v).cache(no_l1, streaming)\n";
  expect_golden(page(lowered(gate(), "gate(m=13, n=1000)", schedule)), "cuda/gate_flat_2.txt");
}

TEST(StreamText, a_sum_over_each_row) {
  const char* schedule = "y.rows(1, 256).vector(8).blocks_per_sm(2)\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
  expect_golden(page(lowered(norm(), "norm(m=5, n=4096)", schedule)), "cuda/norm_rows.txt");
}

TEST(StreamText, rows_of_fixed_length_two_a_block) {
  const char* schedule = "y.rows(2, 64).vector(8).fix(n).dependent_launch()\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
  expect_golden(page(lowered(norm(), "norm(m=5, n=1024)", schedule)), "cuda/norm_rows_2.txt");
}

TEST(StreamText, a_row_shared_by_a_cluster) {
  const char* schedule = "y.rows(1, 128).vector(4).cluster(4)\ntotal.compute_at(y, m)\npeak.compute_at(y, m)\n";
  expect_golden(page(lowered(shares(), "shares(m=3, n=2040)", schedule)), "cuda/shares_cluster.txt");
}

// f32 outputs: of a sum of 200 terms the check asks for more than the special-function unit gives, of a sum of 2,040 terms it does not.
TEST(StreamText, functions_are_approximated_where_no_output_shows_it) {
  const char* schedule = "y.rows(1, 128).vector(4)\ntotal.compute_at(y, m)\npeak.compute_at(y, m)\n";
  const std::string shown = lowered(shares(), "shares(m=3, n=200)", schedule).text(), hidden = lowered(shares(), "shares(m=3, n=2040)", schedule).text();
  EXPECT_NE(shown.find("expf("), std::string::npos);
  EXPECT_EQ(shown.find("fast_exp2("), std::string::npos);
  EXPECT_EQ(hidden.find("expf("), std::string::npos);
  EXPECT_NE(hidden.find("fast_exp2("), std::string::npos);
}

TEST(StreamText, what_is_computed_at_the_row_is_kept_and_what_is_inlined_computed_anew) {
  const char* schedule = "y.rows(1, 64).vector(4)\ntotal.compute_at(y, m)\ne.compute_at(y, m)\npeak.compute_at(y, m)\n";
  expect_golden(page(lowered(shares(), "shares(m=3, n=200)", schedule)), "cuda/shares_kept.txt");
}

TEST(StreamText, a_stage_at_root_is_a_kernel_of_its_own) {
  const char* schedule = "squares.compute_root().rows(1, 128)\ny.rows(1, 128)\nscale.compute_at(y, m)\n";
  const Program program = lowered(norm(), "norm(m=5, n=512)", schedule);
  ASSERT_EQ(program.kernels.size(), 2u);
  ASSERT_EQ(program.intermediates.size(), 1u);
  EXPECT_EQ(program.intermediates.front().name, "squares");
  EXPECT_EQ(program.intermediates.front().bytes(), 5 * 4);
  expect_golden(page(program), "cuda/norm_two_kernels.txt");
}

TEST(StreamText, an_output_of_one_value_a_row_beside_the_rows) {
  const char* schedule = "y.rows(1, 64).vector(8)\nscales.compute_with(y, m)\nrow.compute_at(y, m)\npeak.compute_at(y, m)\n";
  expect_golden(page(lowered(scaled_rows(), "scaled_rows(m=3, n=512)", schedule)), "cuda/scaled_rows.txt");
}

// Sixteen codes are one store.
TEST(StreamText, codes_of_e4m3_are_converted_by_the_hardware) {
  const char* schedule = "y.rows(1, 64).vector(16)\nscales.compute_with(y, m)\nrow.compute_at(y, m)\npeak.compute_at(y, m)\n";
  expect_golden(page(lowered(coded_rows(), "coded_rows(m=3, n=1024)", schedule)), "cuda/coded_rows.txt");
}

TEST(StreamText, codes_in_a_line_and_those_of_its_last_elements) {
  expect_golden(lowered(codes(), "codes(m=3, n=100)", "y.fuse(n, m, i).split(i, b, i, 1024, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\n").text(),
                "cuda/codes.txt");
}

// Two codes are no word: one conversion each.
TEST(StreamText, codes_that_fill_no_word_are_stored_one_by_one) {
  const std::string text = lowered(codes(), "codes(m=3, n=64)", "y.rows(1, 32).vector(2)\n").text();
  EXPECT_NE(text.find("y[start + column + 1] = (u8)pack_e4m3(y_lanes[1], 0.0f);"), std::string::npos) << text;
}

TEST(StreamText, codes_that_are_kept_are_converted_where_they_are_computed) {
  Algorithm algorithm = codes();
  algorithm.arguments[1].type = kFloat32;
  Stage kept = algorithm.stages[1];
  kept.name = "code";
  Stage y = kept;
  y.name = "y";
  y.types = {kFloat32};
  y.values = {parse_expression("(cast f32 (load u8 code 0 n m))")};
  algorithm.stages = {algorithm.stages[0], kept, y};
  const std::string text = lowered(algorithm, "codes(m=3, n=64)", "y.rows(1, 32).vector(2)\n").text();
  EXPECT_NE(text.find("return (float)((u8)pack_e4m3(x, 0.0f));"), std::string::npos) << text;
}

// The instruction for E5M2 is not used: its codes are computed as the algorithm says.
TEST(StreamText, codes_of_e5m2_are_computed_as_they_are_written) {
  const std::string text = lowered(codes(true), "codes(m=3, n=64)", "y.rows(1, 32).vector(2)\n").text();
  EXPECT_EQ(text.find("e4m3"), std::string::npos) << text;
  EXPECT_NE(text.find("__float_as_uint"), std::string::npos) << text;
}

// What differs between their launches alone is in no text: one build serves all.
TEST(StreamText, problems_that_differ_in_rows_alone_and_launches_share_a_text) {
  const char* rows = "y.rows(2, 64).vector(8)\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
  const char* dependent = "y.rows(2, 64).vector(8).dependent_launch()\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
  EXPECT_EQ(lowered(norm(), "norm(m=5, n=1024)", rows).text(), lowered(norm(), "norm(m=7239, n=1024)", dependent).text());
  EXPECT_EQ(lowered(gate(), "gate(m=13, n=1000)", kFlat).text(), lowered(gate(), "gate(m=1, n=12288)", kFlat).text());
  const char* tiles = "y.tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).tile(ni, mi, nt, mt, nv, mv, 4, 4).gpu_blocks(no, mo).gpu_threads(nt, mt).vectorize(nv).unroll(mv)\n";
  EXPECT_EQ(lowered(turn(), "turn(m=100, n=200)", tiles).text(), lowered(turn(), "turn(m=4096, n=4096)", tiles).text());
  const char* dots = "y.dots(2, 4, 2)\nc.compute_at(y, n)\n";
  EXPECT_EQ(lowered(dot_by_terms(), "dot_by_terms(m=2, n=37, k=1000)", dots).text(), lowered(dot_by_terms(), "dot_by_terms(m=2, n=4096, k=4096)", dots).text());
}

TEST(StreamText, a_turned_matrix) {
  const char* schedule =
      "y.tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).tile(ni, mi, nt, mt, nv, mv, 4, 4).gpu_blocks(no, mo).gpu_threads(nt, mt).vectorize(nv).unroll(mv)\n";
  expect_golden(page(lowered(turn(), "turn(m=100, n=200)", schedule)), "cuda/turn.txt");
}

TEST(StreamText, dot_products_by_teams_of_warps) {
  expect_golden(page(lowered(dot_by_terms(), "dot_by_terms(m=2, n=37, k=1000)", "y.dots(2, 4, 2).accesses(2)\nc.compute_at(y, n)\n")), "cuda/dots.txt");
}

TEST(StreamText, dot_products_by_strips_of_columns) {
  expect_golden(page(lowered(dot_by_columns(), "dot_by_columns(m=1, n=1000, k=36)", "y.strips(8, 32).accesses(4).cluster(2)\nc.compute_at(y, n)\n")), "cuda/strips.txt");
}

}  // namespace
}  // namespace kiln::tests
