#include "dsl/schedule.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "dsl/error.h"
#include "tests/support/random_schedule.h"

namespace kiln {
namespace {

TEST(ScheduleTest, a_chain_a_line_prints_as_it_reads) {
  const std::string text =
      "y.tile(n, m, no, mo, ni, mi, 64, 6).parallel(mo).vectorize(ni, 8).unroll(mi)\n"
      "c.compute_at(y, no).vectorize(n, 8).unroll(m)\n"
      "c.update(0).split(k, ko, ki, 256).reorder(n, m, ki, ko).vectorize(n, 8).unroll(n).unroll(m)\n"
      "B.in().compute_at(y, no).vectorize(d0, 16, GuardWithIf)\n"
      "blur#2.in(g#3).compute_at(c.in(), r.x).store_in(Stack)\n";
  EXPECT_EQ(print(parse_schedule(text)), text);
}

TEST(ScheduleTest, blanks_comments_continuations_and_halides_spelling_are_read) {
  const Schedule schedule = parse_schedule(
      "# a header\n\n  y.split( n , no,ni, 8 , TailStrategy::GuardWithIf ) # a comment\n"
      "  .vectorize(ni)\n"
      "c.update().reorder(n,m) # another\r\n"
      "c.store_in(MemoryType::Stack)");
  EXPECT_EQ(print(schedule),
            "y.split(n, no, ni, 8, GuardWithIf).vectorize(ni)\n"
            "c.update(0).reorder(n, m)\n"
            "c.store_in(Stack)\n");
}

TEST(ScheduleTest, a_hash_within_a_name_is_no_comment) {
  EXPECT_EQ(print(parse_schedule("blur#2.compute_at(f#3, x)#2 is a comment")), "blur#2.compute_at(f#3, x)\n");
}

TEST(ScheduleTest, opaque_schedules_stand_alone) {
  EXPECT_EQ(print(parse_schedule("own_schedule()")), "own_schedule()\n");
  const Schedule schedule = parse_schedule("autoschedule(Mullapudi2016, parallelism=2, balance=1.5)\n");
  EXPECT_EQ(print(schedule), "autoschedule(Mullapudi2016, parallelism=2, balance=1.5)\n");
  EXPECT_TRUE(schedule.is_opaque());
  EXPECT_FALSE(parse_schedule("c.compute_root()").is_opaque());
  EXPECT_FALSE(Schedule{}.is_opaque());
}

TEST(ScheduleTest, nothing_is_the_empty_schedule) {
  EXPECT_EQ(parse_schedule("\n # only words\n"), Schedule{});
  EXPECT_EQ(print(Schedule{}), "");
}

TEST(ScheduleTest, a_chain_builds_what_its_text_parses_to) {
  Schedule schedule;
  Chain(schedule, "c", 0).add("split", "k", "ko", "ki", 256).add("vectorize", "n", 8);
  Chain(schedule, "c").add("compute_root");
  EXPECT_EQ(schedule, parse_schedule("c.update(0).split(k, ko, ki, 256).vectorize(n, 8)\nc.compute_root()"));
  EXPECT_EQ(print(schedule.directives[0]), "c.update(0).split(k, ko, ki, 256)");
}

TEST(ScheduleTest, another_definition_is_named_as_an_argument) {
  EXPECT_EQ(print(parse_schedule("c.update(1).compute_with(d.update(), y, LoopAlignStrategy::AlignStart)\nc.compute_with(A.in(), y)\n"
                                 "c.prefetch(A, y, y, 2, PrefetchBoundStrategy::Clamp).partition(x, Partition::Never)")),
            "c.update(1).compute_with(d.update(0), y, AlignStart)\n"
            "c.compute_with(A.in(), y).prefetch(A, y, y, 2, Clamp).partition(x, Never)\n");
}

TEST(ScheduleTest, what_follows_specialize_is_said_of_the_specialization) {
  const std::string text =
      "y.split(n, no, ni, 8).specialize(C.dim(0).extent() >= 64 && C.dim(0).extent() % 8 == 0).vectorize(ni).unroll(no, 4)\n"
      "y.parallel(m)\n"
      "y.specialize(C.dim(0).extent() >= 64 && C.dim(0).extent() % 8 == 0).parallel(m)\n"
      "y.specialize(C.dim(0).extent() < 8)\n"
      "c.update(0).specialize(A.dim(0).extent() == 4).unroll(k, 4)\n";
  const Schedule schedule = parse_schedule(text);
  EXPECT_EQ(print(schedule), text);
  EXPECT_EQ(schedule.directives[2].condition, "C.dim(0).extent() >= 64 && C.dim(0).extent() % 8 == 0");
  EXPECT_EQ(print(schedule.directives[2]), "y.specialize(C.dim(0).extent() >= 64 && C.dim(0).extent() % 8 == 0).vectorize(ni)");
  EXPECT_EQ(schedule.directives[4].condition, "");
  EXPECT_EQ(schedule.directives.size(), 9u);
}

TEST(ScheduleTest, specialize_again_goes_on_with_the_specialization) {
  EXPECT_EQ(print(parse_schedule("y.specialize(C.dim(0).extent()>=64)\nc.compute_root()\ny.specialize( C.dim( 0 ).extent() >= 64 )\n  .unroll(n, 4)")),
            "y.specialize(C.dim(0).extent() >= 64)\nc.compute_root()\ny.specialize(C.dim(0).extent() >= 64).unroll(n, 4)\n");
}

TEST(ScheduleTest, ten_thousand_random_schedules_survive_print_and_parse) {
  std::mt19937_64 random(tests::test_seed(7));
  for (int i = 0; i < 12000; ++i) {
    const Schedule schedule = tests::random_text_schedule(random);
    const std::string text = print(schedule);
    const Schedule back = parse_schedule(text);
    ASSERT_EQ(back, schedule) << text;
    ASSERT_EQ(print(back), text);
    ASSERT_EQ(digest(back), digest(schedule));
  }
}

TEST(ScheduleTest, every_part_of_a_directive_changes_the_digest) {
  const Schedule sample = parse_schedule("c.update(0).split(k, ko, ki, 8)\nc.compute_root()");
  std::set<Digest> digests = {digest(sample)};
  const auto change = [&](auto&& mutate) {
    Schedule schedule = sample;
    mutate(schedule.directives);
    digests.insert(digest(schedule));
  };
  change([](auto& d) { d[0].stage = "b"; });
  change([](auto& d) { d[0].update = 1; });
  change([](auto& d) { d[0].name = "tile"; });
  change([](auto& d) { d[0].arguments[0] = "j"; });
  change([](auto& d) { d[0].arguments[3] = std::int64_t{9}; });
  change([](auto& d) { d[0].arguments.pop_back(); });
  change([](auto& d) { std::swap(d[0], d[1]); });
  change([](auto& d) { d.pop_back(); });
  EXPECT_EQ(digests.size(), 9u);
}

TEST(ScheduleTest, comments_do_not_change_the_digest) { EXPECT_EQ(digest(parse_schedule("# m=1\nc.compute_root() # why")), digest(parse_schedule("c.compute_root()"))); }


constexpr const char* kAll =
    "accesses, align_bounds, align_storage, async, atomic, autoschedule, blocks_per_sm, bound, bound_extent, cache, cluster, compute_at, "
    "compute_inline, compute_root, compute_with, dependent_launch, dots, evict, fix, fold_storage, fuse, gpu_blocks, gpu_threads, "
    "hoist_storage, hoist_storage_root, l2_promotion, own_schedule, parallel, partition, persistent, prefetch, raster, rename, reorder, "
    "reorder_storage, rfactor, rows, serial, specialize, split, split_reduction, stage_in, store_at, store_in, store_root, store_through, "
    "strips, swap_operands, tensorize, tile, unroll, vector, vectorize, warps";

TEST(ScheduleTest, what_cannot_be_read_is_named_with_line_and_column) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"c", "line 1, column 2: expected '.' and a directive after 'c', found the end of the text"},
      {"c.", "line 1, column 3: expected a directive after '.', found the end of the text"},
      {"c.compute_root", "line 1, column 15: expected '(' after 'compute_root', found the end of the text"},
      {"c.compute_root(", "line 1, column 16: expected a loop, a stage or a number, found the end of the text"},
      {"c.compute_root() c", "line 1, column 18: expected '.', a comment or the end of the line, found 'c'"},
      {"\n\n  8.split(x)", "line 3, column 3: expected a stage or own_schedule(), found '8'"},
      {"c.vectorise(n, 8)", std::string("line 1, column 3: unknown directive 'vectorise', did you mean 'vectorize'; the directives are ") + kAll},
      {"c.quantise(n)", std::string("line 1, column 3: unknown directive 'quantise'; the directives are ") + kAll},
      {"c.split(n, no, ni)",
       "line 1, column 3: split has 3 arguments; write split(loop, outer, inner, factor) or split(loop, outer, inner, factor, tail)"},
      {"c.split(n, no, ni, nn)", "line 1, column 20: argument 4 of split(loop, outer, inner, factor) is a number, found 'nn'"},
      {"c.split(n, 8, ni, 8)", "line 1, column 12: argument 2 of split(loop, outer, inner, factor) is a name for a new loop, found 8"},
      {"c.split(n, no, ni, 8, Shift)",
       "line 1, column 23: argument 5 of split(loop, outer, inner, factor, tail) is a tail strategy, found 'Shift'; they are Auto, RoundUp, GuardWithIf, "
       "Predicate, PredicateLoads, PredicateStores, ShiftInwards, ShiftInwardsAndBlend, RoundUpAndBlend"},
      {"c.store_in(VTCM)", "line 1, column 12: argument 1 of store_in(memory) is a memory type, found 'VTCM'; they are Auto, Heap, Stack"},
      {"c.vectorize(n, 8x)", "line 1, column 16: '8x' is no number"},
      {"c.vectorize(n, 99999999999999999999)", "line 1, column 16: '99999999999999999999' is no number"},
      {"c.vectorize(n 8)", "line 1, column 15: expected ',' or ')', found '8'"},
      {"c.vectorize(n,)", "line 1, column 15: expected an argument after ',', found ')'"},
      {"c.reorder(n)", "line 1, column 3: reorder has 1 argument; write reorder(loop, loop, …)"},
      {"c.vectorize(n, 8).update(0)", "line 1, column 19: update(n) stands directly after the stage, before any directive"},
      {"c.compute_root().in()", "line 1, column 18: in() stands directly after the stage, before update(n) and any directive"},
      {"c.update(x).split(n, no, ni, 8)", "line 1, column 10: expected the number of an update and ')', found 'x'"},
      {"c.update(0).compute_root()", "line 1, column 13: compute_root belongs to the whole stage, not to an update: write c.compute_root(…)"},
      {"split(n, no, ni, 8)", "line 1, column 1: 'split' needs a stage before it, as in c.split(…)"},
      {"c.own_schedule()", "line 1, column 3: own_schedule belongs to no stage and stands alone in a schedule"},
      {"c.compute_root()\nown_schedule()", "line 2, column 1: own_schedule stands alone in a schedule, found other directives above it"},
      {"own_schedule()\nc.compute_root()", "line 2, column 1: own_schedule() stands alone in a schedule, found more"},
      {".vectorize(n)", "line 1, column 1: a line that begins with '.' continues a chain, but there is none above"},
      {"autoschedule(Mullapudi2016, 2)", "line 1, column 29: argument 2 of autoschedule(scheduler, key=value, …) is key=value, found 2"},
      {"autoschedule(Mullapudi2016, parallelism=)", "line 1, column 41: expected a value after 'parallelism=', found ')'"},
      {"c.compute_at(y.update(0), n)", "line 1, column 14: argument 1 of compute_at(stage, loop) is a stage, found 'y.update(0)'"},
      {"c.compute_with(y.update(x), n)", "line 1, column 25: expected the number of an update and ')', found 'x'"},
      {"c.compute_with(y, n, Middle)",
       "line 1, column 22: argument 3 of compute_with(definition, loop, align) is an alignment, found 'Middle'; they are Auto, NoAlign, AlignStart, AlignEnd"},
      {"c.prefetch(A, n, n, 1, None)",
       "line 1, column 24: argument 5 of prefetch(buffer, at, from, offset, bounds) is a strategy, found 'None'; they are Clamp, GuardWithIf, NonFaulting"},
      {"c.partition(n, Sometimes)", "line 1, column 16: argument 2 of partition(loop, policy) is a policy, found 'Sometimes'; they are Auto, Never, Always"},
      {"c.fold_storage(n, 4, yes)",
       "line 1, column 22: argument 3 of fold_storage(dimension, factor, forward) is a truth value, found 'yes'; they are true, false"},
      {"c.update(0).rfactor(k, u, j)", "line 1, column 13: rfactor has 3 arguments; write rfactor(loop, dimension, …)"},
      {"c.update(0).rfactor(k, u, j, 4)", "line 1, column 30: argument 4 of rfactor(loop, dimension, …) is a name for a new loop, found 4"},
      {"c.specialize()", "line 1, column 3: specialize has 0 arguments; write specialize(condition)"},
      {"c.specialize(4 < n)", "line 1, column 14: expected an argument, as in C.dim(0).extent() >= 64, found '4'"},
      {"c.specialize(C.extent.0 >= 64)", "line 1, column 15: expected '.dim(' after the argument, as in C.dim(0).extent() >= 64, found '.'"},
      {"c.specialize(C.dim(x).extent() >= 64)", "line 1, column 20: expected the number of a dimension, found 'x'"},
      {"c.specialize(C.dim(0).min() >= 64)", "line 1, column 21: expected ').extent()' after the dimension, found ')'"},
      {"c.specialize(C.dim(0).extent() % 0 == 0)", "line 1, column 34: expected a modulus of at least 1, found '0'"},
      {"c.specialize(C.dim(0).extent() ~ 64)", "line 1, column 32: expected one of == != <= >= < >, found '~'"},
      {"c.specialize(C.dim(0).extent() >= n)", "line 1, column 35: expected a number to compare with, found 'n'"},
      {"c.specialize(C.dim(0).extent() >= 4 &&)", "line 1, column 39: expected an argument, as in C.dim(0).extent() >= 64, found ')'"},
      {"c.specialize(C.dim(0).extent() >= 4).specialize(C.dim(1).extent() >= 4)",
       "line 1, column 38: a specialization cannot be specialized again; write one condition, joined by &&"},
      {"c.specialize(C.dim(0).extent() >= 4).compute_root()",
       "line 1, column 38: compute_root belongs to the whole stage, not to a specialization: write c.compute_root(…)"},
      {"f.in(3).compute_root()", "line 1, column 6: expected a stage that reads it, or ')', found '3'"},
  };
  for (const auto& [text, message] : rows) {
    try {
      parse_schedule(text);
      ADD_FAILURE() << "was read: " << text;
    } catch (const ScheduleError& error) {
      EXPECT_EQ(std::string(error.what()), message) << text;
    }
  }
}

}  // namespace
}  // namespace kiln
