#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "autotune/cli/pages/best.h"
#include "autotune/cli/pages/choice.h"
#include "autotune/cli/pages/demand.h"
#include "autotune/cli/pages/report.h"
#include "autotune/cli/pages/rows.h"
#include "autotune/cli/pages/status.h"
#include "dsl/algorithm.h"
#include "dsl/error.h"
#include "tests/autotune/cli/golden.h"
#include "tests/autotune/cli/tuned_store.h"

namespace kiln::autotune::cli {
namespace {

using db::message_of;
using Json = nlohmann::json;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

const BestRow& row_of(const std::vector<BestRow>& rows, db::ProblemId problem) {
  return *std::find_if(rows.begin(), rows.end(), [&](const BestRow& row) { return row.key.problem == problem; });
}

db::Liveness always_dead(const db::Process&) { return db::Liveness::dead; }
db::Liveness always_alive(const db::Process&) { return db::Liveness::alive; }

TEST(Best, a_win_has_its_baseline_by_name_and_its_interval) {
  TunedStore tuned;
  const auto rows = best_rows(*tuned.sample);
  const BestRow& row = row_of(rows, tuned.win_problem);
  EXPECT_EQ(row.worth, Worth::faster);
  EXPECT_EQ(row.baseline, "own schedule");
  EXPECT_EQ(row.schedule, kFastSchedule);
  EXPECT_EQ(row.tried, 6);
  EXPECT_EQ(row.rejected, (std::map<std::string, int>{{"cut_slow", 1}, {"spills", 1}, {"wrong_result", 1}}));
  EXPECT_NEAR(*row.speedup, 1 / 0.7, 1e-9);
  EXPECT_LT(*row.speedup_low, *row.speedup);
  EXPECT_EQ(worth_text(row), "1.43x (1.41–1.45)");
}

TEST(Best, a_tie_is_never_told_as_a_win) {
  TunedStore tuned;
  const auto rows = best_rows(*tuned.sample);
  const BestRow& row = row_of(rows, tuned.tie_problem);
  EXPECT_EQ(row.worth, Worth::tie);
  EXPECT_EQ(worth_text(row), "tie, baseline stays");
  EXPECT_EQ(row.schedule, "autoschedule(Mullapudi2016, parallelism=2)");
  EXPECT_EQ(row.baseline, "Mullapudi2016");
  EXPECT_EQ(row.baseline_note, "own schedule could not be it: run_error: input A needs extent 64 in dimension 1, has 1");
}

TEST(Best, without_a_clean_final_the_baseline_stays_and_the_word_is_contended) {
  TunedStore tuned;
  const auto rows = best_rows(*tuned.sample);
  const BestRow& row = row_of(rows, tuned.contended_problem);
  EXPECT_EQ(worth_text(row), "contended");
  EXPECT_EQ(row.baseline, "unscheduled");
  EXPECT_EQ(row.best_ns, row.baseline_ns);
  EXPECT_EQ(row.speedup, 1.0);
}

TEST(Best, names_of_baselines) {
  EXPECT_EQ(baseline_name("own", "own_schedule()"), "own schedule");
  EXPECT_EQ(baseline_name("autoscheduler", "autoschedule(Mullapudi2016, parallelism=2)"), "Mullapudi2016");
  EXPECT_EQ(baseline_name("autoscheduler", "autoschedule(Adams2019)"), "Adams2019");
  EXPECT_EQ(baseline_name("unscheduled", ""), "unscheduled");
  EXPECT_EQ(baseline_name("hand", "y.parallel(m)"), "hand schedule");
}

TEST(Best, the_demand_weighs_both_columns_of_the_total) {
  TunedStore tuned;
  EXPECT_FALSE(demand_cost(best_rows(*tuned.sample)));
  add_demand(tuned);
  const auto rows = best_rows(*tuned.sample);
  const auto cost = demand_cost(rows);
  ASSERT_TRUE(cost);
  const double tie_after = *row_of(rows, tuned.tie_problem).baseline_ns / *row_of(rows, tuned.tie_problem).speedup;
  EXPECT_EQ(cost->calls, 28000);
  EXPECT_NEAR(cost->before_ns, 28000 * 1000.0, 1e-3);
  EXPECT_NEAR(cost->after_ns, 8000 * 700.0 + 20000 * tie_after, 1e-3);
  EXPECT_LE(cost->after_low_ns, cost->after_ns);
  EXPECT_GE(cost->after_high_ns, cost->after_ns);
}

TEST(Best, json_is_an_array_of_exactly_these_keys) {
  TunedStore tuned;
  add_demand(tuned);
  const Json array = Json::parse(best_json(best_rows(*tuned.sample)));
  ASSERT_EQ(array.size(), 3u);
  const std::vector<std::string> keys = {"baseline", "baseline_ns", "best_ns",       "calls",         "candidate", "device", "operator",
                                         "problem",  "rejected",    "schedule",      "speedup",       "speedup_high", "speedup_low", "tried"};
  for (const Json& row : array) EXPECT_EQ(keys_of(row), keys);
  EXPECT_EQ(array[0]["calls"], 8000);
  EXPECT_EQ(array[0]["operator"], "matmul");
  EXPECT_EQ(array[0]["device"], "Xeon");
  EXPECT_EQ(array[0]["rejected"]["spills"], 1);
  EXPECT_EQ(array[0]["candidate"], digest("schedule", kFastSchedule).short_hex());
}

TEST(Best, the_table_reads_as_reviewed) {
  TunedStore tuned;
  add_demand(tuned);
  expect_golden(print_best(best_rows(*tuned.sample), false), "pages/best.txt");
  db::SampleStore empty;
  EXPECT_EQ(print_best(best_rows(*empty), false), "nothing has been tuned in this store\n");
}

TEST(Status, runs_problems_and_failures_with_their_texts) {
  TunedStore tuned;
  const StatusPage page = status_page(*tuned.sample, 5, always_alive);
  ASSERT_EQ(page.runs.size(), 1u);
  EXPECT_EQ(page.runs[0].state, "running");
  EXPECT_FALSE(page.runs[0].is_gone);
  EXPECT_EQ(page.runs[0].noise, 0.004);
  EXPECT_EQ(page.problems.size(), 3u);
  ASSERT_EQ(page.failures.size(), 3u);
  for (const Failure& failure : page.failures) EXPECT_NE(failure.reason, "cut_slow");
  expect_golden(print_status(page, false), "pages/status.txt");
}

TEST(Status, a_run_whose_process_died_says_so) {
  TunedStore tuned;
  const StatusPage page = status_page(*tuned.sample, 5, always_dead);
  EXPECT_TRUE(page.runs.at(0).is_gone);
  EXPECT_NE(print_status(page, false).find("running, but its process is gone"), std::string::npos);
}

TEST(Status, failures_of_one_reason_are_counted_and_the_newest_is_told) {
  db::SampleStore sample;
  const db::RunId run = sample.run();
  for (const char* text : {"first", "second", "third"})
    db::record_rejected(*sample, run, sample.key.problem, sample.schedule(std::string("y.vectorize(n, ") + text + ")"), std::nullopt,
                        {"worker_crash", {}, {}, std::string("signal 11 (SIGSEGV), ") + text});
  const StatusPage page = status_page(*sample, 5, always_alive);
  ASSERT_EQ(page.failures.size(), 1u);
  EXPECT_EQ(page.failures[0].count, 3);
  EXPECT_EQ(page.failures[0].text, "signal 11 (SIGSEGV), third");
}

TEST(Status, what_a_run_could_not_do_stays_in_sight) {
  db::SampleStore sample;
  const db::RunId run = sample.run();
  record_event(*sample, run, "untunable", "the reference of a(m=1) ended with signal 11 (SIGSEGV)");
  record_event(*sample, run, "contended", "b(m=1): no clean final race");
  const StatusPage page = status_page(*sample, 5, always_alive);
  EXPECT_EQ(page.runs.at(0).faults, std::vector<std::string>{"untunable: the reference of a(m=1) ended with signal 11 (SIGSEGV)"});
  EXPECT_EQ(page.runs.at(0).last_event, "contended: b(m=1): no clean final race");
  EXPECT_NE(print_status(page, false).find("\n  untunable: the reference of a(m=1) ended with signal 11 (SIGSEGV)\n"
                                           "  last event: contended: b(m=1): no clean final race\n"),
            std::string::npos)
      << print_status(page, false);
}

TEST(Status, json_has_its_keys) {
  TunedStore tuned;
  const Json page = Json::parse(status_json(status_page(*tuned.sample, 5, always_alive)));
  EXPECT_EQ(keys_of(page), (std::vector<std::string>{"failures", "problems", "runs"}));
  EXPECT_EQ(keys_of(page["problems"][0]), (std::vector<std::string>{"best_ratio", "decided", "in_flight", "ok", "operator", "phase", "problem", "rejected",
                                                                   "suspects", "tried"}));
}

TEST(Choice, every_problem_is_decided_once_and_again_the_same) {
  TunedStore tuned;
  const auto first = choose_all(*tuned.sample, db::kDefaultHorizon_s);
  ASSERT_EQ(first.size(), db::result_keys(*tuned.sample).size());
  const auto history = db::choice_history(*tuned.sample, tuned.win_problem, tuned.sample.key.device);
  choose_all(*tuned.sample, db::kDefaultHorizon_s);
  EXPECT_EQ(db::choice_history(*tuned.sample, tuned.win_problem, tuned.sample.key.device).size(), history.size());
}

TEST(Choice, the_page_reads_as_reviewed) {
  TunedStore tuned;
  add_demand(tuned);
  expect_golden(print_choices(choose_all(*tuned.sample, db::kDefaultHorizon_s), false), "pages/choose.txt");
}

TEST(Choice, a_ban_is_obeyed_until_it_is_lifted) {
  TunedStore tuned;
  const std::string fast = digest("schedule", kFastSchedule).short_hex();
  const auto lines = rule(*tuned.sample, {RulingWish::What::ban, fast, "matmul(m=256, n=1024, k=1024, f32)", "wrong on Tuesdays"});
  EXPECT_EQ(lines, (std::vector<std::string>{"matmul(m=256, n=1024, k=1024, f32): " + fast + " is banned: wrong on Tuesdays"}));
  const auto served = [&] {
    for (const ChoicePage& page : choose_all(*tuned.sample, db::kDefaultHorizon_s))
      if (page.problem == "matmul(m=256, n=1024, k=1024, f32)") return page.schedule;
    return std::string("no such problem");
  };
  EXPECT_EQ(served(), kOtherSchedule);
  rule(*tuned.sample, {RulingWish::What::lift, fast, "", ""});
  EXPECT_EQ(served(), kFastSchedule);
}

TEST(Choice, a_pin_beats_the_numbers) {
  TunedStore tuned;
  const std::string other = digest("schedule", kOtherSchedule).short_hex();
  rule(*tuned.sample, {RulingWish::What::pin, other, "matmul(m=256, n=1024, k=1024, f32)", ""});
  for (const ChoicePage& page : choose_all(*tuned.sample, db::kDefaultHorizon_s)) {
    if (page.problem != "matmul(m=256, n=1024, k=1024, f32)") continue;
    EXPECT_EQ(page.schedule, kOtherSchedule);
    ASSERT_EQ(page.rulings.size(), 1u);
    EXPECT_EQ(page.rulings[0].why, "pinned with `kiln choose`");
  }
}

TEST(Choice, rulings_that_cannot_be_meant_are_refused) {
  TunedStore tuned;
  const std::string other = digest("schedule", kOtherSchedule).short_hex();
  using What = RulingWish::What;
  EXPECT_EQ(message_of<UsageError>([&] { rule(*tuned.sample, {What::ban, other, "", ""}); }),
            "--ban needs --why TEXT: a ban without its reason cannot be judged later");
  EXPECT_EQ(message_of<UsageError>([&] { rule(*tuned.sample, {What::pin, other, "", ""}); }),
            "candidate " + other + " was tried on 2 problems; choose one with --problem:\n  matmul(m=256, n=1024, k=1024, f32)\n"
            "  matmul(m=1, n=1024, k=1024, f32)");
  EXPECT_EQ(message_of<UsageError>([&] { rule(*tuned.sample, {What::lift, other, "", ""}); }),
            "--lift " + other + ": there is neither a pin nor a ban of it");
}

TEST(Report, the_page_reads_as_reviewed) {
  TunedStore tuned;
  add_demand(tuned);
  expect_golden(print_report(report_page(*tuned.sample), false), "pages/report.txt");
}

TEST(Report, the_funnel_counts_how_far_candidates_came) {
  TunedStore tuned;
  const ReportPage page = report_page(*tuned.sample);
  ASSERT_EQ(page.funnels.size(), 3u);
  const Funnel& funnel = page.funnels[0];
  EXPECT_EQ(std::vector<int>({funnel.proposed, funnel.timed, funnel.finals}), std::vector<int>({6, 3, 3}));
  EXPECT_EQ(funnel.examples.at("wrong_result"), "y[3,17] is 4.5, the reference has 4.25");
}

TEST(Report, random_search_is_told_from_the_runs_own_draws) {
  TunedStore tuned;
  const ReportPage page = report_page(*tuned.sample);
  // Of the first problem, one draw was timed at 0.9 and three failed, which leaves their user with the baseline.
  const RandomCurve& curve = page.curves.at(0);
  EXPECT_EQ(curve.drawn, 4);
  ASSERT_EQ(curve.speedups.size(), 3u);  // after 1, 2 and all 4
  EXPECT_NEAR(1 / curve.speedups[0].second, (3 * 1 + 0.9) / 4, 1e-9);
  EXPECT_NEAR(1 / curve.speedups[2].second, 0.9, 1e-9);
  EXPECT_NEAR(*curve.search_speedup, 1 / 0.7, 1e-6);
}

TEST(Report, since_leaves_older_runs_out) {
  TunedStore tuned;
  const db::RunId later = tuned.sample.run({.pid = 2, .started = "elsewhere/1/2"}, "2c000000-0000-4000-8000-000000000002");
  db::end_run(*tuned.sample, later, "done");
  EXPECT_EQ(report_page(*tuned.sample).runs.size(), 2u);
  EXPECT_EQ(report_page(*tuned.sample, "2c00").runs.size(), 1u);
  EXPECT_TRUE(report_page(*tuned.sample, "2c00").best.empty());
  EXPECT_EQ(message_of<UsageError>([&] { report_page(*tuned.sample, "ffff"); }),
            "--since ffff: no run of :memory: begins with that; `kiln status` lists them");
}

TEST(Report, json_has_its_keys) {
  TunedStore tuned;
  EXPECT_EQ(keys_of(Json::parse(report_json(report_page(*tuned.sample)))),
            (std::vector<std::string>{"best", "building_s", "funnels", "random_search", "runs", "wall_s"}));
}

TEST(Demand, the_page_reads_as_reviewed) {
  TunedStore tuned;
  EXPECT_EQ(print_demand(demand_page(*tuned.sample), false), "no demand in this store; `kiln demand import FILE` brings some\n");
  add_demand(tuned);
  choose_all(*tuned.sample, db::kDefaultHorizon_s);
  expect_golden(print_demand(demand_page(*tuned.sample), false), "pages/demand.txt");
  EXPECT_EQ(keys_of(Json::parse(demand_json(demand_page(*tuned.sample)))), (std::vector<std::string>{"imports", "problems"}));
}

// An operator of one input and one output of one dimension, n long.
Algorithm scale() {
  Algorithm algorithm;
  algorithm.generator = "scale";
  Argument input;
  input.name = "x";
  input.rank = 1;
  input.estimates = {Interval{0, 100}};
  Argument output = input;
  output.name = "y";
  output.is_output = true;
  algorithm.arguments = {input, output};
  algorithm.symbols = {{"n", {{"x", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"n"};
  return algorithm;
}

TEST(Rows, a_problem_is_meant_by_any_text_that_completes_to_it) {
  db::SampleStore sample;
  const Algorithm algorithm = scale();
  const db::AlgorithmId id = db::keep(*sample, db::AlgorithmRow{.digest = digest(algorithm), .generator = "scale", .text = print(algorithm),
                                                                .contract = "bounded", .halide_version = "21.0.0", .json = to_json(algorithm)});
  db::ProblemRow row;
  row.algorithm = id;
  row.operator_name = "scale";
  row.text = "scale(n=100)";
  row.digest = digest("problem", row.text);
  const db::ProblemId problem = db::keep(*sample, row);
  EXPECT_EQ(problems_meant(*sample, "scale(n=100)"), std::vector{problem});
  EXPECT_EQ(problems_meant(*sample, "scale( n = 100 )"), std::vector{problem});
  EXPECT_EQ(problems_meant(*sample, "scale(x.0=100)"), std::vector{problem});
  EXPECT_EQ(message_of<UsageError>([&] { problems_meant(*sample, "scale(n=7)"); }), "no problem scale(n=7) in :memory:; there are:\n  scale(n=100)");
  EXPECT_EQ(message_of<UsageError>([&] { problems_meant(*sample, "blur(n=7)"); }), "no problem of blur in :memory:");
}

}  // namespace
}  // namespace kiln::autotune::cli
