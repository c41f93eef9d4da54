#include "autotune/budget.h"

#include <gtest/gtest.h>

#include <numeric>

#include "autotune/compiled_builds.h"

namespace kiln::autotune {
namespace {

TEST(Budget, keeps_a_fifth_for_finals_and_a_second_to_close) {
  const Budget budget(101);
  EXPECT_DOUBLE_EQ(budget.search_ends_s(), 80);
  EXPECT_DOUBLE_EQ(budget.left_s(81), 20);
}

TEST(Budget, finals_share_what_is_left_and_end_before_it) {
  const Budget budget(101);
  double spent = budget.search_ends_s();
  for (std::size_t remaining = 4; remaining > 0; --remaining) spent += budget.finals_s(spent, remaining);
  EXPECT_LT(spent, 100);
  EXPECT_GT(spent, 97);
}

TEST(Budget, search_gives_way_to_what_finals_and_coverage_are_known_to_need) {
  Budget budget(101);
  budget.need(10, 5);
  EXPECT_DOUBLE_EQ(budget.search_ends_s(), 80) << "the share kept is enough";
  budget.need(20, 15);
  EXPECT_DOUBLE_EQ(budget.search_ends_s(), 65);
  EXPECT_DOUBLE_EQ(budget.search_share_s(), 80);
  EXPECT_DOUBLE_EQ(budget.finals_s(65, 4), 5);
  budget.need(200, 100);
  EXPECT_DOUBLE_EQ(budget.search_ends_s(), 40) << "half of its time stays the search's";
  EXPECT_DOUBLE_EQ(budget.finals_s(40, 1), 30) << "and half of the rest the finals'";
}

TEST(Budget, gives_no_time_that_is_not_there) { EXPECT_EQ(Budget(10).finals_s(12, 3), 0); }

TEST(Limits, of_single_steps_leave_time_for_the_rest) {
  const Limits night = limits_of(8 * 3600), minute = limits_of(60), seconds = limits_of(10), none = limits_of(1);
  EXPECT_EQ(night.build_s, 30);
  EXPECT_EQ(night.reference_s, 300);
  EXPECT_EQ(minute.read_s, 24);
  EXPECT_EQ(minute.call_s, 12);
  EXPECT_EQ(seconds.reference_s, 4);
  EXPECT_EQ(seconds.build_s, 3);
  EXPECT_EQ(none.call_s, 2) << "less would judge the load of the machine";
}

TEST(Limits, of_beam_searches_are_shared_by_the_problems_of_a_run) {
  EXPECT_EQ(limits_of(8 * 3600).beam_search_s, 300);
  EXPECT_DOUBLE_EQ(limits_of(60).beam_search_s, 9);
  EXPECT_DOUBLE_EQ(limits_of(60, 4).beam_search_s, 2.25);
  EXPECT_DOUBLE_EQ(limits_of(360).beam_search_s, 54);
}

TEST(Limits, of_a_build_follow_who_makes_its_schedule) {
  const Limits limits;
  const auto job = [&](const std::string& schedule) { return job_for(limits, {}, parse_schedule(schedule), 7); };
  EXPECT_EQ(job("y.parallel(m)\n").limit_s, limits.build_s);
  EXPECT_EQ(job("autoschedule(Mullapudi2016, parallelism=2)\n").limit_s, limits.autoschedule_s);
  EXPECT_EQ(job("autoschedule(Adams2019, parallelism=2, beam_size=1)\n").limit_s, limits.beam_search_s);
  EXPECT_EQ(job("y.parallel(m)\n").memory_bytes, std::int64_t{4} << 30);
  EXPECT_LE(job("autoschedule(Adams2019)\n").memory_bytes, std::int64_t{8} << 30);
  EXPECT_EQ(job("autoschedule(Adams2019)\n").id, 7);
}

TEST(Limits, that_were_shorter_than_todays_decided_nothing) {
  const Limits minute = limits_of(60);  // builds 18 s, beam searches 9 s, calls 12 s
  const Schedule plain, adams = parse_schedule("autoschedule(Adams2019, parallelism=2)\n");
  EXPECT_TRUE(may_end_now({"compile_timeout", 3.1, 3.0, "the build did not end"}, plain, minute));
  EXPECT_FALSE(may_end_now({"compile_timeout", 30.1, 30.0, "the build did not end"}, plain, minute));
  EXPECT_TRUE(may_end_now({"compile_timeout", 8.1, 8.0, "the build did not end"}, adams, minute));
  EXPECT_FALSE(may_end_now({"compile_timeout", 9.1, 9.0, "the build did not end"}, adams, minute));
  EXPECT_TRUE(may_end_now({"compile_timeout", 54.1, 54.0, "the build did not end"}, adams, limits_of(3600)));
  EXPECT_TRUE(may_end_now({"run_timeout", 2.1, 2.0, "a call did not end"}, plain, minute));
  EXPECT_FALSE(may_end_now({"run_timeout", 12.1, 12.0, "a call did not end"}, plain, minute));
  EXPECT_FALSE(may_end_now({"wrong_result", 1.0, 0.1, "element (x=3)"}, plain, minute));
}

TEST(NextProblem, a_problem_without_a_batch_comes_first) {
  EXPECT_EQ(next_problem({{.calls = 1e6, .best_ns = 1e6, .batches = 3}, {.calls = 1, .best_ns = 0}}), 1U);
}

TEST(NextProblem, weighs_calls_time_and_gain_against_the_cost_of_a_batch) {
  const Prospect often{.calls = 1000, .best_ns = 1e5, .recent_gain = 0.1, .batch_s = 1, .batches = 1};
  Prospect seldom = often;
  seldom.calls = 10;
  EXPECT_EQ(next_problem({seldom, often}), 1U);
  Prospect dear = often;
  dear.batch_s = 20;
  EXPECT_EQ(next_problem({dear, often}), 1U);
  Prospect stale = often;
  stale.recent_gain = 0.001;
  EXPECT_EQ(next_problem({stale, often}), 1U);
}

TEST(NextProblem, is_nothing_when_all_are_exhausted) {
  EXPECT_EQ(next_problem({{.batches = 1, .exhausted = true}, {.exhausted = true}}), std::nullopt);
}

TEST(ExpectedGain, is_the_mean_of_the_latest_batches) {
  EXPECT_NEAR(expected_gain({1.0, 0.5, 0.25}), 0.5, 1e-12);
  EXPECT_NEAR(expected_gain({0.1, 1.0, 0.9, 0.81, 0.729}), 0.1, 1e-12);  // the last three gains only
}

TEST(ExpectedGain, halves_with_every_stale_batch_but_never_reaches_nothing) {
  const double once = expected_gain({1.0, 0.5, 0.5, 0.5, 0.5, 0.5});
  const double twice = expected_gain({1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
  EXPECT_DOUBLE_EQ(twice, once / 2);
  EXPECT_GT(twice, 0);
}

}  // namespace
}  // namespace kiln::autotune
