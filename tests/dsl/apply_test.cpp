// Schedules on rebuilt pipelines: what Halide makes of each directive, by its own account of the loops.
#include "dsl/apply.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "dsl/legality.h"
#include "dsl/read_algorithm.h"
#include "generators/operators/operators.h"

namespace kiln {
namespace {

constexpr const char* kTarget = "x86-64-linux-sse41-no_runtime";

Algorithm matmul() {
  generators::shipped_operators();
  return read_algorithm("matmul", {}, kTarget);
}

// Halide's names and kinds of one definition's loops, innermost first.
std::string loops(const Halide::Stage& definition) {
  std::string text;
  for (const Halide::Internal::Dim& dim : definition.get_schedule().dims()) {
    if (dim.var == Halide::Var::outermost().name()) continue;
    const char* kind = dim.for_type == Halide::Internal::ForType::Parallel     ? " parallel"
                       : dim.for_type == Halide::Internal::ForType::Vectorized ? " vectorized"
                       : dim.for_type == Halide::Internal::ForType::Unrolled   ? " unrolled"
                                                                     : "";
    text += (text.empty() ? "" : ", ") + dim.var + kind;
  }
  return text;
}

// Halide answers for a level only once it is locked.
std::string loop_of(Halide::LoopLevel level) { return level.lock().is_root() ? "root" : level.var_name(); }

Pipeline scheduled(const Algorithm& algorithm, const std::string& text) {
  const Schedule schedule = parse_schedule(text);
  require_legal(schedule, algorithm, nullptr);
  Pipeline pipeline = rebuild(algorithm);
  apply(schedule, pipeline);
  return pipeline;
}

void expect_compiles(Pipeline& pipeline) {
  EXPECT_NO_THROW(pipeline.pipeline.compile_to_module(pipeline.arguments, "kernel", Halide::Target(kTarget)));
}

TEST(ApplyTest, tiles_orders_and_marks_become_halides) {
  Pipeline pipeline = scheduled(matmul(), "y.tile(n, m, no, mo, ni, mi, 16, 4).parallel(mo).vectorize(ni).unroll(mi)");
  EXPECT_EQ(loops(pipeline.stages.at("y")), "n.ni vectorized, m.mi unrolled, n.no, m.mo parallel");
  expect_compiles(pipeline);
}

TEST(ApplyTest, one_loop_takes_several_factors) {
  Pipeline pipeline = scheduled(matmul(), "y.vectorize(n, 8).unroll(n, 4).parallel(n, 2)\nc.compute_root()\nc.update(0).unroll(k, 4).unroll(k, 2)");
  EXPECT_EQ(loops(pipeline.stages.at("y")), "n.n$0 vectorized, n.n.n$1 unrolled, n.n.n.n$2, n.n.n.n parallel, m");
  expect_compiles(pipeline);
}

TEST(ApplyTest, reduction_loops_stay_reduction_loops) {
  Pipeline pipeline = scheduled(matmul(), "c.compute_root()\nc.update(0).split(k, ko, ki, 4).reorder(n, m, ki, ko).rename(ko, kk).unroll(ki)");
  const Halide::Stage update = pipeline.stages.at("c").update(0);
  EXPECT_EQ(loops(update), "n, m, k.ki unrolled, k.ko.kk");
  EXPECT_TRUE(update.get_schedule().dims()[3].is_rvar());
  expect_compiles(pipeline);
}

TEST(ApplyTest, places_and_storage_become_loop_levels) {
  Pipeline pipeline = scheduled(matmul(),
                                "y.split(m, mo, mi, 4).fuse(n, mi, f)\n"
                                "c.compute_at(y, f).store_at(y, mo).store_in(Stack).align_storage(n, 8).reorder_storage(m, n)\n"
                                "B.in().compute_root()");
  const auto& schedule = pipeline.stages.at("c").function().schedule();
  EXPECT_EQ(loop_of(schedule.compute_level()), "f");
  EXPECT_EQ(loop_of(schedule.store_level()), "mo");
  EXPECT_EQ(schedule.memory_type(), Halide::MemoryType::Stack);
  EXPECT_EQ(schedule.storage_dims()[0].var, "m");
  EXPECT_EQ(loop_of(pipeline.stages.at("B.in").function().schedule().compute_level()), "root");
  expect_compiles(pipeline);
}

TEST(ApplyTest, a_place_may_be_a_reduction_loop) {
  Pipeline pipeline = scheduled(matmul(), "c.compute_root()\nc.update(0).reorder(n, m, k)\nA.in().compute_at(c, k)");
  EXPECT_EQ(loop_of(pipeline.stages.at("A.in").function().schedule().compute_level()), "k");
  expect_compiles(pipeline);
}

TEST(ApplyTest, wrappers_are_made_before_anything_names_them) {
  Pipeline pipeline = scheduled(matmul(), "A.in().compute_at(c.in(), n)\nc.in().compute_root().vectorize(n, 4)\nc.compute_at(c.in(), n)\nB.in(c).compute_at(c, m)");
  EXPECT_EQ(pipeline.stages.at("c").function().wrappers().size(), 1u);
  EXPECT_EQ(pipeline.stages.at("B.in").function().wrappers().size(), 1u);
  expect_compiles(pipeline);
}

TEST(ApplyTest, atomic_sums_over_vectors_compile) {
  Pipeline pipeline = scheduled(matmul(), "c.compute_root()\nc.update(0).atomic().vectorize(k, 4, GuardWithIf)");
  expect_compiles(pipeline);
}

TEST(ApplyTest, bounds_become_halides) {
  Pipeline pipeline = scheduled(matmul(), "y.bound(n, 0, 64).bound_extent(m, 8).align_bounds(n, 16).unroll(m)\nA.in().compute_root().align_bounds(d0, 4)");
  EXPECT_EQ(pipeline.stages.at("y").function().schedule().bounds().size(), 3u);
  expect_compiles(pipeline);
}

TEST(ApplyTest, what_halide_refuses_carries_the_directive_and_its_words) {
  Pipeline pipeline = rebuild(matmul());
  Schedule schedule;
  Chain(schedule, "y").add("split", "q", "qo", "qi", 8);
  try {
    apply(schedule, pipeline);
    FAIL();
  } catch (const ScheduleError& error) {
    EXPECT_EQ(std::string(error.what()).find("`y.split(q, qo, qi, 8)`: "), 0u) << error.what();
    EXPECT_NE(std::string(error.what()).find("could not find split dimension: q"), std::string::npos) << error.what();
  }
}

TEST(ApplyTest, opaque_schedules_are_not_for_apply) {
  Pipeline pipeline = rebuild(matmul());
  EXPECT_THROW(apply(parse_schedule("own_schedule()"), pipeline), ScheduleError);
}

}  // namespace
}  // namespace kiln
