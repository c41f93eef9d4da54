// Two stores become one, once and again.
#include "db/merge.h"

#include <gtest/gtest.h>

#include "db/coverage.h"
#include "db/demand.h"
#include "db/status.h"
#include "dsl/error.h"
#include "tests/db/sample_store.h"
#include "tests/db/temporary_folder.h"

namespace kiln::db {
namespace {

const std::string kUuid = "11111111-1111-4111-8111-111111111111";

// A night on another machine: a baseline, a winner, a rejection, a demand.
void fill(SampleStore& sample, const std::string& uuid = kUuid) {
  const RunId run_id = sample.run(this_process(), uuid);
  const TrialId base = sample.ok_trial(run_id, "base"), fast = sample.ok_trial(run_id, "fast");
  record_rejected(*sample, run_id, sample.key.problem, sample.schedule("bad"), std::nullopt, {"spills", 40.0, 0.0, "40 spills"});
  sample.race(run_id, base, {SampleStore::timing(base, 1), SampleStore::timing(fast, 0.5)});
  record_event(*sample, run_id, "resumed", "");
  record_noise_floor(*sample, run_id, {.at = "", .p95_relative = 0.01, .load = {}, .steal = {}});
  put_artifact(*sample, "object", "object of fast");
  import_demand(*sample, parse_demand("7 matmul(m=256)\n", "d"), content_digest("d"));
  link_demand(*sample, "matmul(m=256)", sample.key.problem);
  end_run(*sample, run_id, "done");
}

std::int64_t rows(Store& store, const std::string& table) {
  Statement row = store.connection().query("SELECT count(*) FROM " + table);
  row.step();
  return row.integer(0);
}

TEST(Merge, brings_everything_over_and_changes_nothing_the_second_time) {
  const TemporaryFolder folder;
  { SampleStore other(folder.file("other.db")); fill(other); }
  SampleStore sample(folder.file("here.db"), "gcc 13; codegen 1");  // another toolchain first: ids differ
  sample.ok_trial(sample.run(), "mine");
  const MergeReport first = merge(*sample, folder.file("other.db"));
  EXPECT_EQ(first.foreign_runs, 1);
  EXPECT_EQ(first.added.at("trial"), 3);
  EXPECT_EQ(first.added.at("measurement"), 2);
  EXPECT_EQ(first.added.at("build"), 2);
  EXPECT_EQ(demand_of(*sample, sample.key.problem)->calls, 7);
  EXPECT_TRUE(has_artifact(*sample, content_digest("object of fast")));
  EXPECT_EQ(findings(*sample), "");
  const MergeReport second = merge(*sample, folder.file("other.db"));
  EXPECT_TRUE(second.added.empty());
  for (const char* table : {"run", "trial", "race", "measurement", "verification", "run_event", "noise_floor"})
    EXPECT_EQ(rows(*sample, table), std::string(table) == "run" ? 2 : std::string(table) == "trial" ? 4 : std::string(table) == "measurement" ? 2 :
              std::string(table) == "verification" ? 3 : 1) << table;
}

TEST(Merge, foreign_results_are_hints_until_they_are_trusted) {
  const TemporaryFolder folder;
  { SampleStore other(folder.file("other.db")); fill(other); }
  SampleStore sample(folder.file("here.db"));
  merge(*sample, folder.file("other.db"));
  EXPECT_FALSE(verdict(*sample, sample.key).chosen.has_value());
  EXPECT_TRUE(known_outcomes(*sample, sample.key).empty());
  EXPECT_TRUE(problem_status(*sample).empty());
  const std::vector<Hint> found = hints(*sample, sample.algorithm);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].schedule, sample.schedule("fast"));
  EXPECT_EQ(found[0].ratio, 0.5);

  EXPECT_EQ(merge(*sample, folder.file("other.db"), {.trust = true}).adopted_runs, 1);
  EXPECT_EQ(schedule(*sample, verdict(*sample, sample.key).chosen->schedule).text, "fast");
  EXPECT_EQ(known_outcomes(*sample, sample.key).size(), 3u);
}

TEST(Merge, coverage_comes_with_the_runs_that_are_trusted) {
  const TemporaryFolder folder;
  {
    SampleStore other(folder.file("other.db"));
    fill(other);
    record_coverage(*other, {.tier = "bucket",
                             .build = other.build(other.schedule("fast"), other.key.problem),
                             .problem = other.key.problem,
                             .device = other.key.device,
                             .extents = {{"m", {250, 256}}},
                             .checked = {"matmul(m=250)", "matmul(m=256)"},
                             .max_error = 0.25});
  }
  SampleStore sample(folder.file("here.db"));
  EXPECT_FALSE(merge(*sample, folder.file("other.db")).added.contains("coverage"));
  EXPECT_EQ(merge(*sample, folder.file("other.db"), {.trust = true}).added.at("coverage"), 1);
  const std::vector<CoverageRow> rows = coverage(*sample, sample.algorithm, sample.key.device);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].extents.at("m"), std::make_pair(std::int64_t{250}, std::int64_t{256}));
  EXPECT_EQ(rows[0].checked, (std::vector<std::string>{"matmul(m=250)", "matmul(m=256)"}));
  EXPECT_FALSE(merge(*sample, folder.file("other.db")).added.contains("coverage"));
}

TEST(Merge, a_run_planned_here_and_measured_elsewhere_stays_own) {
  const TemporaryFolder folder;
  SampleStore sample(folder.file("here.db"));
  const RunId run_id = sample.run(this_process(), kUuid);
  const TrialId planned = plan_trial(*sample, run_id, sample.key.problem, sample.schedule("fast"));
  { SampleStore other(folder.file("other.db")); fill(other); }
  const MergeReport report = merge(*sample, folder.file("other.db"));
  EXPECT_EQ(report.own_runs, 1);
  EXPECT_EQ(trial(*sample, planned).state, "done");
  EXPECT_EQ(schedule(*sample, verdict(*sample, sample.key).chosen->schedule).text, "fast");
  EXPECT_EQ(findings(*sample), "");
}

// Two runs of another file: one that planned, one that measured what it planned.
void fill_bundle(const std::string& path) {
  SampleStore other(path);
  RunRow row;
  row.device = other.key.device;
  row.toolchain = other.key.toolchain;
  row.protocol = other.key.protocol;
  row.process = this_process();
  row.uuid = kUuid;
  row.options = R"({"references": {"ab": {"hash": ")" + content_digest("a reference").hex() + R"("}}})";
  const RunId planned = begin_run(*other, row);
  const BuildId build = other.build(other.schedule("fast"), other.key.problem);
  const TrialId trial = plan_trial(*other, planned, other.key.problem, other.schedule("fast"));
  attach_build(*other, trial, build);
  finish_trial(*other, trial);
  put_artifact(*other, "object", "a reference");
  put_artifact(*other, "cubin", "object of fast");
  end_run(*other, planned, "done");
  row.uuid = "22222222-2222-4222-8222-222222222222";
  row.options = R"({"bundle": ")" + kUuid + R"("})";
  const RunId measured = begin_run(*other, row);
  const TrialId base = other.ok_trial(measured, "base"), fast = other.ok_trial(measured, "fast");
  other.race(measured, base, {SampleStore::timing(base, 1), SampleStore::timing(fast, 0.5)});
  end_run(*other, measured, "done");
}

TEST(Merge, a_run_that_measured_a_bundle_belongs_to_who_planned_it) {
  const TemporaryFolder folder;
  fill_bundle(folder.file("bundle.db"));
  SampleStore sample(folder.file("here.db"));
  end_run(*sample, sample.run(this_process(), kUuid), "done");
  const MergeReport report = merge(*sample, folder.file("bundle.db"));
  EXPECT_EQ(report.own_runs, 2);
  EXPECT_EQ(report.foreign_runs, 0);
  EXPECT_EQ(schedule(*sample, verdict(*sample, sample.key).chosen->schedule).text, "fast");
  EXPECT_TRUE(has_artifact(*sample, content_digest("object of fast")));
  EXPECT_FALSE(has_artifact(*sample, content_digest("a reference"))) << "of use where it is measured only";
  EXPECT_EQ(findings(*sample), "");

  SampleStore stranger(folder.file("stranger.db"));
  EXPECT_EQ(merge(*stranger, folder.file("bundle.db")).foreign_runs, 2);
  EXPECT_EQ(merge(*stranger, folder.file("bundle.db"), {.trust = true}).own_runs, 2);
}

TEST(Merge, ends_runs_that_were_still_running_there) {
  const TemporaryFolder folder;
  {
    SampleStore other(folder.file("other.db"));
    start_trial(*other, plan_trial(*other, other.run(this_process(), kUuid), other.key.problem, other.schedule("x")));
  }
  SampleStore sample(folder.file("here.db"));
  merge(*sample, folder.file("other.db"));
  const RunId id = *find_run(*sample, kUuid);
  EXPECT_EQ(run(*sample, id).state, "interrupted");
  EXPECT_TRUE(trials(*sample, id).empty()) << "only finished trials cross";
}

TEST(Merge, refuses_what_is_no_store_and_what_contradicts) {
  const TemporaryFolder folder;
  SampleStore sample(folder.file("here.db"));
  EXPECT_EQ(message_of<DataError>([&] { merge(*sample, folder.file("none.db")); }),
            "there is no store " + folder.file("none.db") + "; `kiln tune` creates one, --db names another");
  const std::string other_path = folder.file("other.db");
  { SampleStore other(other_path); other->connection().run("UPDATE toolchain SET text = 'clang'"); }
  EXPECT_EQ(message_of<DataError>([&] { merge(*sample, other_path); }),
            "cannot merge " + other_path + " into " + sample->path() + ": toolchain " + digest("toolchain", "gcc 12; codegen 1").hex().substr(0, 12) +
                " stands for different texts in the two; they were written by different rules");
  { SampleStore repaired(folder.file("good.db")); fill(repaired); }
  EXPECT_EQ(merge(*sample, folder.file("good.db")).added.at("trial"), 3) << "a refused merge leaves the store usable";
}

}  // namespace
}  // namespace kiln::db
