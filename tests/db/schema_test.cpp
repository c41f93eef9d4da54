// The constraints of each table refuse what must not be stored.
#include <gtest/gtest.h>

#include <limits>

#include "db/migrate.h"
#include "dsl/error.h"
#include "tests/db/sample_store.h"

namespace kiln::db {
namespace {

class Schema : public testing::Test {
 protected:
  // Whether SQLite refuses the statement because of a constraint or trigger.
  bool is_refused(const std::string& sql) {
    const std::string message = message_of<DataError>([&] { sample_->connection().script(sql); });
    EXPECT_TRUE(message.empty() || message.find("it contradicts what is stored; nothing was changed") != std::string::npos) << message;
    return !message.empty();
  }

  SampleStore sample_;
  RunId run_ = sample_.run();
  TrialId base_ = sample_.ok_trial(run_, "base"), fast_ = sample_.ok_trial(run_, "fast");
};

TEST_F(Schema, knows_the_reasons_of_this_program_and_no_others) {
  std::vector<std::string> words;
  for (Statement row = sample_->connection().query("SELECT word FROM reason ORDER BY place"); row.step();) words.push_back(row.text(0));
  EXPECT_EQ(words, std::vector<std::string>(std::begin(kReasons), std::end(kReasons)));
  EXPECT_NE(message_of<DataError>([&] {
              record_rejected(*sample_, run_, sample_.key.problem, sample_.schedule("x"), std::nullopt, {"too_slow", {}, {}, "no such word"});
            }), "");
}

TEST_F(Schema, every_table_is_strict) {
  Statement row = sample_->connection().query("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'");
  EXPECT_FALSE(row.step()) << row.text(0);
}

TEST_F(Schema, measurements_are_positive_finite_and_ordered) {
  const auto refuses = [&](const std::function<void(MeasurementRow&)>& spoil) {
    MeasurementRow row = SampleStore::timing(fast_, 0.5);
    spoil(row);
    return !message_of<DataError>([&] { sample_.race(run_, base_, {SampleStore::timing(base_, 1), row}); }).empty();
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(refuses([](MeasurementRow&) {}));
  EXPECT_TRUE(refuses([](MeasurementRow& row) { row.q1_ns = 0; }));
  EXPECT_TRUE(refuses([](MeasurementRow& row) { row.median_ns = row.q1_ns / 2; }));
  EXPECT_TRUE(refuses([=](MeasurementRow& row) { row.q3_ns = kInfinity; }));
  EXPECT_TRUE(refuses([=](MeasurementRow& row) { row.value_ns = kNan; }));
  EXPECT_TRUE(refuses([](MeasurementRow& row) { row.mad_ns = -1; }));
  EXPECT_TRUE(refuses([](MeasurementRow& row) { row.ratio_lo = row.ratio * 2; }));
  EXPECT_TRUE(refuses([](MeasurementRow& row) { row.ratio_hi = row.ratio / 2; }));
  EXPECT_TRUE(refuses([=](MeasurementRow& row) { row.ratio = kNan; }));
  EXPECT_TRUE(refuses([](MeasurementRow& row) { row.samples_ns.clear(); }));
  EXPECT_TRUE(refuses([](MeasurementRow& row) { row.quality = "good"; }));
}

TEST_F(Schema, a_race_measures_trials_of_its_own_problem) {
  const ProblemId other = sample_.problem(1);
  RaceRow row;
  row.run = run_;
  row.problem = other;
  row.protocol = sample_.key.protocol;
  row.stage = "final";
  row.baseline = base_;
  EXPECT_EQ(message_of<DataError>([&] { record_race(*sample_, row, {SampleStore::timing(base_, 1)}); }),
            "cannot record a race in :memory:: a race measures trials of one problem (code 1811); it contradicts what is stored; nothing was changed");
  EXPECT_TRUE(races(*sample_, other, sample_.key.device, sample_.key.protocol).empty()) << "the race is rolled back with its rows";
}

TEST_F(Schema, trials_are_done_exactly_when_they_have_an_outcome) {
  plan_trial(*sample_, run_, sample_.key.problem, sample_.schedule("x"));
  EXPECT_TRUE(is_refused("UPDATE trial SET state = 'done' WHERE state = 'planned'"));
  EXPECT_TRUE(is_refused("UPDATE trial SET state = 'done', outcome = 'rejected', ended = 'x' WHERE state = 'planned'")) << "without a reason";
  EXPECT_TRUE(is_refused("UPDATE trial SET state = 'done', outcome = 'ok', ended = 'x' WHERE state = 'planned'")) << "without a build";
  EXPECT_TRUE(is_refused("UPDATE trial SET state = 'sleeping' WHERE state = 'planned'"));
  EXPECT_TRUE(is_refused("UPDATE trial SET outcome = 'rejected', reason = 'spills', detail = '' WHERE trial_id = 1")) << "a finished trial is final";
}

TEST_F(Schema, refuses_rows_that_refer_to_nothing) {
  EXPECT_TRUE(is_refused("INSERT INTO run_event (run_id, at, kind, detail) VALUES (99, '', '', '')"));
  EXPECT_TRUE(is_refused("DELETE FROM device"));
  EXPECT_NE(message_of<DataError>([&] { plan_trial(*sample_, run_, static_cast<ProblemId>(99), sample_.schedule("x")); }), "");
}

TEST_F(Schema, refuses_words_and_values_that_mean_nothing) {
  EXPECT_TRUE(is_refused("UPDATE algorithm SET contract = 'loose'"));
  EXPECT_TRUE(is_refused("UPDATE algorithm SET digest = x'00'"));
  EXPECT_TRUE(is_refused("UPDATE problem SET extents = 'not json'"));
  EXPECT_TRUE(is_refused("UPDATE device SET kind = 'abacus'"));
  EXPECT_TRUE(is_refused("UPDATE device SET units = 0"));
  EXPECT_TRUE(is_refused("UPDATE device SET units = 'two'"));
  EXPECT_TRUE(is_refused("UPDATE schedule SET origin = 'guess'"));
  EXPECT_TRUE(is_refused("UPDATE schedule SET numerics_class = 'fast'"));
  EXPECT_TRUE(is_refused("UPDATE schedule SET space = 'matmul'")) << "a space without its version";
  EXPECT_TRUE(is_refused("UPDATE run SET state = 'done'")) << "without an end";
  EXPECT_TRUE(is_refused("UPDATE run SET origin = 'imported'"));
  EXPECT_TRUE(is_refused("UPDATE build SET reason = 'spills', detail = ''")) << "with an object, a rejection is one problem's";
  EXPECT_TRUE(is_refused("UPDATE build SET actual = '{'"));
  EXPECT_TRUE(is_refused("UPDATE build_problem SET device_id = 1")) << "a device decides only rejections";
  EXPECT_TRUE(is_refused("UPDATE verification SET cases = 0"));
  EXPECT_TRUE(is_refused("INSERT INTO noise_floor (run_id, at, p95_relative) VALUES (1, '', -0.1)"));
  EXPECT_TRUE(is_refused("INSERT INTO artifact (hash, kind, bytes) VALUES (x'00', 'object', x'')"));
  EXPECT_TRUE(is_refused("INSERT INTO ruling (kind, problem_id, schedule_id, why, at) VALUES ('ban', 1, 1, '', '')")) << "without why";
  EXPECT_TRUE(is_refused("INSERT INTO demand_source (digest, application, at, horizon_s, overflow) VALUES (zeroblob(32), 'a', '', 0, 0)"));
  EXPECT_TRUE(is_refused("INSERT INTO package (at, set_name, abi_version, manifest, library_hash) VALUES ('', 's', 1, '{', zeroblob(32))"));
}

TEST_F(Schema, a_choice_is_kept_as_it_was_and_has_one_successor) {
  const std::string keep = "INSERT INTO choice (problem_id, device_id, toolchain_id, protocol_id, decision, why, at, supersedes) VALUES (1, 1, 1, 1, 'keep_previous', '', '', ";
  EXPECT_FALSE(is_refused(keep + "NULL)"));
  EXPECT_TRUE(is_refused(keep + "NULL)")) << "a second beginning";
  EXPECT_FALSE(is_refused(keep + "1)"));
  EXPECT_TRUE(is_refused(keep + "1)")) << "a second successor";
  EXPECT_TRUE(is_refused("INSERT INTO choice (problem_id, device_id, toolchain_id, protocol_id, decision, trial_id, why, at) VALUES (1, 1, 1, 1, 'keep_previous', 1, '', '')"));
  EXPECT_TRUE(is_refused("DELETE FROM choice"));
  const ProblemId other = sample_.problem(1);
  EXPECT_TRUE(is_refused("INSERT INTO choice (problem_id, device_id, toolchain_id, protocol_id, decision, why, at, supersedes) VALUES (" +
                         std::to_string(static_cast<int>(other)) + ", 1, 1, 1, 'keep_previous', '', '', 2)")) << "another problem's";
}

// One-problem queries must stay quick among millions of rows: none of them may walk a whole table of results.
TEST_F(Schema, queries_of_one_problem_use_an_index) {
  const auto plan_of = [&](const std::string& sql) {
    std::string plan;
    for (Statement row = sample_->connection().query("EXPLAIN QUERY PLAN " + sql); row.step();) plan += row.text(3) + "\n";
    return plan;
  };
  for (const char* sql :
       {"SELECT * FROM v_clean_final WHERE problem_id = 1 AND device_id = 1 AND toolchain_id = 1 AND protocol_id = 1",
        "SELECT * FROM v_clean_final WHERE trial_id = 1 AND problem_id = 1 AND device_id = 1",
        "SELECT * FROM trial t JOIN run r USING (run_id) WHERE t.problem_id = 1 AND r.device_id = 1 AND t.state = 'done'",
        "SELECT * FROM v_verified WHERE trial_id = 1", "SELECT * FROM v_choice_in_force WHERE problem_id = 1 AND device_id = 1",
        "SELECT * FROM build b WHERE b.binary_hash = x'00'", "SELECT * FROM trial WHERE state = 'suspect' AND state <> 'done'"}) {
    const std::string plan = plan_of(sql);
    for (const char* table : {"SCAN c\n", "SCAN m\n", "SCAN t\n", "SCAN mb\n", "SCAN b\n", "SCAN trial\n", "SCAN measurement\n", "SCAN race\n", "SCAN verification\n", "SCAN choice\n", "SCAN n\n"})
      EXPECT_EQ(plan.find(table), std::string::npos) << sql << "\n" << plan;
  }
}

}  // namespace
}  // namespace kiln::db
