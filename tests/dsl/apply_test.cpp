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

// Built all the same, this schedule fails its check against the reference.
TEST(Apply, what_slides_is_not_read_as_a_whole_beside) {
  generators::shipped_operators();
  const Algorithm algorithm = read_algorithm("softmax", {}, kTarget);
  const auto illegal = find_illegal(parse_schedule("y.reorder(m, n)\npeak.compute_root()\ne.compute_at(y, n).store_root()\n"), algorithm, nullptr);
  ASSERT_TRUE(illegal);
  EXPECT_EQ(illegal->message,
            "`e.store_root()`: in each iteration of loop 'n' of y one read of 'n' moves along and another takes the same of it every time, so what earlier "
            "iterations left is not told from what is missing; store e where it is computed, or compute_root()");
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

TEST(ApplyTest, prefetches_reach_inputs_and_stages) {
  Pipeline pipeline = scheduled(matmul(),
                                "c.compute_root()\nc.update(0).reorder(n, k, m).prefetch(A, k, m, 2, Clamp).prefetch(B, k, k, 4)\n"
                                "y.prefetch(c, n, m, 1, NonFaulting)");
  const auto fetches = pipeline.stages.at("c").update(0).get_schedule().prefetches();
  ASSERT_EQ(fetches.size(), 2u);
  EXPECT_EQ(fetches[0].name, "A");
  EXPECT_TRUE(fetches[0].param.defined());
  EXPECT_EQ(fetches[0].at + " " + fetches[0].from, "k m");
  EXPECT_EQ(fetches[0].strategy, Halide::PrefetchBoundStrategy::Clamp);
  EXPECT_EQ(Halide::Stage(pipeline.stages.at("y")).get_schedule().prefetches().at(0).name, "c");
  expect_compiles(pipeline);
}

TEST(ApplyTest, shared_loops_become_halides) {
  Pipeline pipeline = scheduled(matmul(), "A.in().compute_root()\nB.in().compute_root().compute_with(A.in(), d1, AlignEnd)\nc.compute_root()");
  const auto& level = Halide::Stage(pipeline.stages.at("B.in")).get_schedule().fuse_level();
  EXPECT_EQ(loop_of(level.level), "d1");
  EXPECT_EQ(level.align.at("d1"), Halide::LoopAlignStrategy::AlignEnd);
  expect_compiles(pipeline);
}

TEST(ApplyTest, folded_and_hoisted_storage_becomes_halides) {
  Pipeline pipeline = scheduled(matmul(), "c.compute_at(y, n).store_at(y, m).fold_storage(n, 4).hoist_storage_root()\nA.in().compute_at(c, n).hoist_storage(y, m)");
  const auto& schedule = pipeline.stages.at("c").function().schedule();
  EXPECT_TRUE(Halide::Internal::is_const(schedule.storage_dims()[0].fold_factor, 4));
  EXPECT_EQ(loop_of(schedule.hoist_storage_level()), "root");
  EXPECT_EQ(loop_of(pipeline.stages.at("A.in").function().schedule().hoist_storage_level()), "m");
  expect_compiles(pipeline);
}

TEST(ApplyTest, partial_sums_become_a_stage_with_its_own_name) {
  Pipeline pipeline = scheduled(matmul(),
                                "c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u).vectorize(n, 4)\n"
                                "c_intm.compute_at(c, m).vectorize(n, 4)\nc_intm.update(0).reorder(n, ki, u, m).vectorize(n, 4).unroll(ki)\n"
                                "A.in(c_intm).compute_at(c_intm, u)\nc_intm.in().compute_at(c, n)");
  ASSERT_TRUE(pipeline.stages.contains("c_intm"));
  EXPECT_EQ(pipeline.stages.at("c_intm").args().back().name(), "u");
  EXPECT_EQ(loops(pipeline.stages.at("c_intm").update(0)), "n.n$0 vectorized, n.n, ki unrolled, u, m");
  EXPECT_EQ(loops(pipeline.stages.at("c").update(0)), "ko, n.n$0 vectorized, n.n, m");
  expect_compiles(pipeline);
}

TEST(ApplyTest, a_second_rfactor_makes_a_second_stage) {
  Pipeline pipeline = scheduled(matmul(),
                                "c.compute_root()\nc.update(0).split(k, ko, ki, 8).rfactor(ko, u).split(ko, kp, kq, 2).rfactor(kp, u)\n"
                                "c_intm.compute_root()\nc_intm#2.compute_root()\nc_intm#2.update(0).parallel(u)");
  EXPECT_TRUE(pipeline.stages.contains("c_intm#2"));
  expect_compiles(pipeline);
}

TEST(ApplyTest, specializations_and_policies_become_halides) {
  Pipeline pipeline = scheduled(matmul(),
                                "y.split(n, no, ni, 8, GuardWithIf).specialize(C.dim(0).extent() >= 64 && A.dim(0).extent() % 8 == 0).vectorize(ni)\n"
                                "y.parallel(m).partition(no, Never)\nc.compute_at(y, no)\nc.update(0).specialize(A.dim(0).extent() == 4)");
  Halide::Stage y(pipeline.stages.at("y"));
  EXPECT_EQ(loops(y), "n.ni, n.no, m parallel");
  EXPECT_EQ(y.get_schedule().dims()[1].partition_policy, Halide::Partition::Never);
  const auto& specializations = pipeline.stages.at("y").function().definition().specializations();
  ASSERT_EQ(specializations.size(), 1u);
  EXPECT_EQ(specializations[0].definition.schedule().dims()[0].for_type, Halide::Internal::ForType::Vectorized);
  EXPECT_EQ(specializations[0].definition.schedule().dims()[2].for_type, Halide::Internal::ForType::Serial);
  EXPECT_EQ(pipeline.stages.at("c").function().updates()[0].specializations().size(), 1u);
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
