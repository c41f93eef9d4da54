#include "generators/host/lowered.h"

#include <gtest/gtest.h>

#include "generators/host/predict.h"
#include "tests/generators/host/matmul_pipeline.h"

namespace kiln::generators::host {
namespace {

const Halide::Target kAvx512("x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake-no_runtime");

Device device() {
  Device device;
  device.cores = 2;
  device.l1_bytes = 32 * 1024;
  device.l2_bytes = 1024 * 1024;
  device.l3_bytes = 32 * 1024 * 1024;
  return device;
}

Predicted report_of(Matmul& matmul, const Problem& problem) {
  Pipeline pipeline = matmul.pipeline();
  return predict(lower(pipeline, "kiln_test", kAvx512, matmul_algorithm(), problem).program, device());
}

std::int64_t working_set(const Predicted& report, const std::string& loop) {
  for (const LoopBytes& set : report.working_sets)
    if (set.loop == loop) return set.bytes;
  ADD_FAILURE() << "no loop " << loop;
  return -1;
}

TEST(Lowered, a_product_without_a_schedule_has_two_operations_a_term) {
  Matmul matmul;
  matmul.c.compute_root();
  const Predicted report = report_of(matmul, matmul_problem(64, 96, 128));
  EXPECT_EQ(report.flops, 2.0 * 64 * 96 * 128);
  EXPECT_EQ(report.compulsory_bytes, 4 * (128 * 64 + 96 * 128 + 96 * 64));
  EXPECT_EQ(report.peak_intermediate_bytes, 4 * 96 * 64);
  EXPECT_EQ(report.allocations, 1);
  EXPECT_EQ(report.parallel_tasks, 1);
}

TEST(Lowered, working_sets_of_the_tiled_product) {
  Matmul matmul;
  matmul.y.tile(matmul.n, matmul.m, matmul.no, matmul.mo, matmul.ni, matmul.mi, 64, 6).reorder(matmul.ni, matmul.mi, matmul.mo, matmul.no);
  matmul.y.parallel(matmul.no).vectorize(matmul.ni, 16).unroll(matmul.ni).unroll(matmul.mi);
  matmul.c.compute_at(matmul.y, matmul.mo).vectorize(matmul.n, 16).unroll(matmul.n).unroll(matmul.m);
  matmul.c.update().reorder(matmul.n, matmul.m, matmul.k).vectorize(matmul.n, 16).unroll(matmul.n).unroll(matmul.m);
  const std::int64_t m = 1020, n = 1024, k = 512;
  const Predicted report = report_of(matmul, matmul_problem(m, n, k));
  EXPECT_EQ(report.flops, 2.0 * static_cast<double>(m * n * k));
  EXPECT_EQ(report.parallel_tasks, 16);
  EXPECT_EQ(report.allocations, 0);                          // the tile lives on the stack
  EXPECT_EQ(report.peak_intermediate_bytes, 2 * 4 * 64 * 6);  // one tile a core
  // One step of k: 64 values of B, 6 lines of A, the tile.
  EXPECT_EQ(working_set(report, "c.update(0).k.x"), 256 + 6 * 64 + 4 * 64 * 6);
  // One tile: a K x 64 panel of B, 6 rows of A, the tile in c and in y.
  EXPECT_EQ(working_set(report, "y.mo"), k * 256 + 6 * k * 4 + 2 * 4 * 64 * 6);
  // One column of tiles: the panel, all of A, the tile in c, 64 columns of y.
  EXPECT_EQ(working_set(report, "y.no"), k * 256 + m * k * 4 + 4 * 64 * 6 + m * 256);
  // One column of tiles does not fit into l2, one tile does: its panel stays, A passes through once a column, and the tile in c never leaves.
  EXPECT_EQ(report.traffic_bytes.at("l2"), 16 * (working_set(report, "y.no") - 4 * 64 * 6));
}

TEST(Lowered, recomputation_counts_as_work) {
  Halide::ImageParam in(Halide::Float(32), 1, "A");
  Halide::Func f("f"), y("y");
  Halide::Var x("x"), xo("xo"), xi("xi");
  f(x) = in(x) * 3.f;
  y(x) = f(x) + f(x + 1);
  y.split(x, xo, xi, 8, Halide::TailStrategy::GuardWithIf);
  f.compute_at(y, xo);
  Pipeline pipeline;
  pipeline.pipeline = Halide::Pipeline(y);
  pipeline.arguments = {in};
  Algorithm algorithm = matmul_algorithm();
  algorithm.arguments.erase(algorithm.arguments.begin() + 1);
  for (Argument& argument : algorithm.arguments) argument.rank = 1;
  algorithm.symbols = {{"n", {{"y", 0}}}, {"k", {{"A", 0}}}};
  algorithm.symbol_order = {"n", "k"};
  Problem problem;
  problem.extents = {{"n", 80}, {"k", 81}};
  const Predicted report = predict(lower(pipeline, "kiln_test", kAvx512, algorithm, problem).program, device());
  EXPECT_EQ(report.flops, 80.0 + 10 * 9);  // each block of 8 recomputes one value of f
}

TEST(Lowered, a_table_indexed_by_values_counts_a_line_a_value_and_at_most_its_whole) {
  Halide::ImageParam in(Halide::UInt(8), 1, "A"), table(Halide::Float(32), 1, "B");
  Halide::Func y("y");
  Halide::Var x("x");
  y(x) = table(Halide::cast<int>(in(x)));
  Pipeline pipeline;
  pipeline.pipeline = Halide::Pipeline(y);
  pipeline.arguments = {in, table};
  pipeline.stages = {{"y", y}};  // Halide may have numbered the name
  Algorithm algorithm = matmul_algorithm();
  algorithm.arguments[0].type = {TypeClass::unsigned_int, 8};
  for (Argument& argument : algorithm.arguments) argument.rank = 1;
  algorithm.symbols = {{"n", {{"y", 0}, {"A", 0}}}, {"k", {{"B", 0}}}};
  algorithm.symbol_order = {"n", "k"};
  Problem problem;
  problem.extents = {{"n", 640}, {"k", 256}};
  const Predicted report = predict(lower(pipeline, "kiln_test", kAvx512, algorithm, problem).program, device());
  EXPECT_EQ(working_set(report, "y.x"), 64 + 64 + 64);
  EXPECT_EQ(report.traffic_bytes.at("l1"), 640 + 1024 + 2560);  // all fits: each buffer once
}

// The staged panel's width is a difference of two minima that move with the outer loop.
TEST(Lowered, a_panel_of_two_tiles_is_followed_through_its_computed_width) {
  Matmul matmul;
  Halide::Var noo("noo"), noi("noi");
  matmul.y.tile(matmul.n, matmul.m, matmul.no, matmul.mo, matmul.ni, matmul.mi, 64, 6).split(matmul.no, noo, noi, 2);
  matmul.y.reorder(matmul.ni, matmul.mi, noi, matmul.mo, noo).vectorize(matmul.ni, 16).unroll(matmul.ni).unroll(matmul.mi);
  matmul.c.compute_at(matmul.y, noi).vectorize(matmul.n, 16).unroll(matmul.n).unroll(matmul.m);
  matmul.c.update().reorder(matmul.n, matmul.m, matmul.k).vectorize(matmul.n, 16).unroll(matmul.n).unroll(matmul.m);
  Halide::Func panel = matmul.B.in();
  panel.compute_at(matmul.y, noo);
  const std::int64_t k = 512;
  const Predicted report = report_of(matmul, matmul_problem(1020, 1024, k));
  EXPECT_EQ(working_set(report, "c.update(0).k.x"), 256 + 6 * 64 + 4 * 64 * 6);
  EXPECT_EQ(working_set(report, "y.noi"), k * 256 + 6 * k * 4 + 2 * 4 * 64 * 6);
}

TEST(Lowered, an_alignment_that_the_author_set_is_recorded) {
  Matmul matmul;
  matmul.A.set_host_alignment(64);
  Pipeline pipeline = matmul.pipeline();
  EXPECT_EQ(lower(pipeline, "kiln_test", kAvx512, matmul_algorithm(), matmul_problem(16, 16, 16)).program.host_alignment_bytes, 64);
  Matmul plain;
  pipeline = plain.pipeline();
  EXPECT_EQ(lower(pipeline, "kiln_test", kAvx512, matmul_algorithm(), matmul_problem(16, 16, 16)).program.host_alignment_bytes, 0);
}

}  // namespace
}  // namespace kiln::generators::host
