// The numbers behind `kiln status`, `kiln best` and the report.
#include "db/status.h"

#include <gtest/gtest.h>

#include "tests/db/sample_store.h"

namespace kiln::db {
namespace {

TEST(Status, counts_candidates_by_their_latest_outcome) {
  SampleStore sample;
  const RunId first = sample.run();
  const TrialId base = sample.ok_trial(first, "base"), fast = sample.ok_trial(first, "fast");
  record_rejected(*sample, first, sample.key.problem, sample.schedule("a"), std::nullopt, {"spills", {}, {}, "x"});
  record_rejected(*sample, first, sample.key.problem, sample.schedule("b"), std::nullopt, {"spills", {}, {}, "x"});
  record_rejected(*sample, first, sample.key.problem, sample.schedule("c"), std::nullopt, {"cut_slow", {}, {}, "x"});
  sample.race(first, base, {SampleStore::timing(base, 1), SampleStore::timing(fast, 0.7)}, "screen");
  end_run(*sample, first, "done");
  const RunId second = sample.run();
  sample.ok_trial(second, "c");
  start_trial(*sample, plan_trial(*sample, second, sample.key.problem, sample.schedule("d")));
  plan_trial(*sample, second, sample.key.problem, sample.schedule("e"));

  const std::vector<ProblemStatus> all = problem_status(*sample);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].problem, "matmul(m=256, n=1024, k=1024, f32)");
  EXPECT_EQ(all[0].tried, 5);
  EXPECT_EQ(all[0].ok, 3);
  EXPECT_EQ(all[0].rejected, (std::map<std::string, int>{{"spills", 2}})) << "c was cut at first and is ok now";
  EXPECT_EQ(all[0].running, 1);
  EXPECT_EQ(all[0].best_ratio, 0.7);
  EXPECT_FALSE(all[0].has_clean_final);
  EXPECT_EQ(problem_status(*sample, second).at(0).tried, 1);
  sample.race(second, base, {SampleStore::timing(base, 1), SampleStore::timing(fast, 0.8)});
  EXPECT_TRUE(problem_status(*sample).at(0).has_clean_final);
}

TEST(Status, best_lists_the_latest_results_that_reached_a_final) {
  SampleStore sample;
  const RunId first = sample.run();
  const TrialId base = sample.ok_trial(first, "base");
  sample.race(first, base, {SampleStore::timing(base, 1)});
  const ResultKey with_final = sample.key;
  sample.key.protocol = keep_protocol(*sample, "v1;cpu;threads=1");
  sample.ok_trial(sample.run(), "base");  // another protocol, nothing but a trial so far
  std::vector<ResultKey> keys = result_keys(*sample);
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].protocol, with_final.protocol);

  const RunId third = sample.run();
  const TrialId again = sample.ok_trial(third, "base");
  sample.race(third, again, {SampleStore::timing(again, 1)});
  EXPECT_EQ(result_keys(*sample).at(0).protocol, sample.key.protocol);
}

TEST(Status, history_is_what_a_run_measured_in_order) {
  SampleStore sample;
  const RunId run_id = sample.run();
  const TrialId base = sample.ok_trial(run_id, "base"), fast = sample.ok_trial(run_id, "fast");
  sample.race(run_id, base, {SampleStore::timing(base, 1), SampleStore::timing(fast, 0.7)}, "screen");
  sample.race(run_id, base, {SampleStore::timing(base, 1), SampleStore::timing(fast, 0.6)});
  const std::vector<HistoryPoint> points = history(*sample, run_id);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[1].ratio, 0.7);
  EXPECT_EQ(points[3].stage, "final");
  EXPECT_LT(points[0].at, points[3].at);
}

}  // namespace
}  // namespace kiln::db
