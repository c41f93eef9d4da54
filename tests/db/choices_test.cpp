// From stored races to a choice in force, with pins, bans and the proof that a choice needs.
#include "db/choices.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/db/sample_store.h"

namespace kiln::db {
namespace {

class Choices : public testing::Test {
 protected:
  ChoiceRow choice_of(TrialId trial) {
    ChoiceRow row;
    row.run = run_;
    row.key = sample_.key;
    row.decision = "specialise";
    row.trial = trial;
    row.baseline = base_;
    row.why = "faster";
    return row;
  }
  ChoiceRow keep_previous() {
    ChoiceRow row;
    row.run = run_;
    row.key = sample_.key;
    row.decision = "keep_previous";
    row.baseline = base_;
    row.why = "contended";
    return row;
  }
  std::string chosen() {
    const StoredVerdict result = verdict(*sample_, sample_.key);
    return result.chosen ? schedule(*sample_, result.chosen->schedule).text : "nothing";
  }

  SampleStore sample_;
  RunId run_ = sample_.run();
  TrialId base_ = sample_.ok_trial(run_, "base");
  TrialId fast_ = sample_.ok_trial(run_, "fast");
  TrialId faster_ = sample_.ok_trial(run_, "faster");
};

TEST_F(Choices, rest_on_clean_finals_of_verified_trials) {
  const TrialId wrong = sample_.ok_trial(run_, "wrong", false);
  EXPECT_EQ(chosen(), "nothing");
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.5), SampleStore::timing(wrong, 0.1)}, "screen");
  EXPECT_EQ(chosen(), "nothing") << "screening decides nothing";
  sample_.race(run_, base_, {SampleStore::timing(base_, 1, 0.01, "contended"), SampleStore::timing(fast_, 0.5)});
  EXPECT_EQ(chosen(), "nothing") << "a ratio to a contended baseline says nothing";
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.6), SampleStore::timing(faster_, 0.3, 0.01, "contended"),
                             SampleStore::timing(wrong, 0.1)});
  EXPECT_EQ(chosen(), "fast");
  VerificationRow failed;
  failed.what = "exported";
  failed.reference = "f64";
  failed.tolerance = "8 eps";
  record_verification(*sample_, fast_, failed);
  EXPECT_EQ(chosen(), "base") << "a later failed check hides a winner";
}

TEST_F(Choices, follow_the_latest_baseline) {
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.2)});
  sample_.race(run_, faster_, {SampleStore::timing(faster_, 1), SampleStore::timing(fast_, 1.1)});
  const StoredVerdict result = verdict(*sample_, sample_.key);
  EXPECT_EQ(result.baseline->trial, faster_);
  EXPECT_EQ(result.chosen->trial, faster_) << "0.2 was against another baseline";
}

TEST_F(Choices, are_append_only_and_supersede_the_one_in_force) {
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.6), SampleStore::timing(faster_, 0.3)});
  const ChoiceId first = record_choice(*sample_, choice_of(fast_));
  const ChoiceId second = record_choice(*sample_, choice_of(faster_));
  EXPECT_EQ(choice_in_force(*sample_, sample_.key.problem, sample_.key.device)->id, second);
  EXPECT_EQ(choice_history(*sample_, sample_.key.problem, sample_.key.device).at(1).id, first);
  EXPECT_EQ(choices_in_force(*sample_).size(), 1u);
  EXPECT_EQ(message_of<DataError>([&] { sample_->connection().run("UPDATE choice SET why = 'x'"); }),
            "cannot read :memory:: choices are append-only (code 1811); it contradicts what is stored; nothing was changed");
  EXPECT_NE(message_of<DataError>([&] { sample_->connection().run("DELETE FROM choice"); }), "");
}

TEST_F(Choices, need_their_proof) {
  const std::string refusal =
      "cannot record a choice in :memory:: a choice needs a passed check and a clean own final of this problem on this device (code 1811); it "
      "contradicts what is stored; nothing was changed";
  EXPECT_EQ(message_of<DataError>([&] { record_choice(*sample_, choice_of(fast_)); }), refusal) << "not timed";
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.6, 0.01, "throttled")});
  EXPECT_EQ(message_of<DataError>([&] { record_choice(*sample_, choice_of(fast_)); }), refusal) << "not clean";
  const TrialId wrong = sample_.ok_trial(run_, "wrong", false);
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.6), SampleStore::timing(wrong, 0.1)});
  EXPECT_EQ(message_of<DataError>([&] { record_choice(*sample_, choice_of(wrong)); }), refusal) << "not correct";
  ChoiceRow elsewhere = choice_of(fast_);
  elsewhere.key.problem = sample_.problem(1);
  EXPECT_EQ(message_of<DataError>([&] { record_choice(*sample_, elsewhere); }), refusal) << "another problem";
  record_choice(*sample_, choice_of(fast_));
}

TEST_F(Choices, without_a_clean_measurement_keep_what_served_before) {
  record_choice(*sample_, keep_previous());
  EXPECT_EQ(choice_in_force(*sample_, sample_.key.problem, sample_.key.device)->serving_trial, base_);
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.6)});
  record_choice(*sample_, choice_of(fast_));
  record_choice(*sample_, keep_previous());
  record_choice(*sample_, keep_previous());
  const std::vector<ServedBuild> served = served_builds(*sample_);
  ASSERT_EQ(served.size(), 1u);
  EXPECT_EQ(served[0].trial, fast_);
  EXPECT_EQ(served[0].build, *trial(*sample_, fast_).build);
}

TEST_F(Choices, prefer_the_incumbent_in_a_tie) {
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.5)});
  record_choice(*sample_, choice_of(fast_));
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.5), SampleStore::timing(faster_, 0.499)});
  EXPECT_EQ(chosen(), "fast");
}

TEST_F(Choices, obey_pins_and_bans_until_they_are_lifted) {
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.6), SampleStore::timing(faster_, 0.3)});
  EXPECT_EQ(chosen(), "faster");
  Ruling ruling{.kind = "ban", .problem = sample_.key.problem, .device = {}, .schedule = sample_.schedule("faster"), .why = "flaky", .at = {}};
  const RulingId ban = record_ruling(*sample_, ruling);
  EXPECT_EQ(chosen(), "fast");
  lift_ruling(*sample_, ban);
  EXPECT_EQ(chosen(), "faster");
  ruling.kind = "pin";
  ruling.schedule = sample_.schedule("base");
  record_ruling(*sample_, ruling);
  EXPECT_EQ(chosen(), "base");
  ruling.schedule = sample_.schedule("fast");
  record_ruling(*sample_, ruling);
  EXPECT_EQ(chosen(), "fast") << "the later pin replaces the earlier";
  ruling.kind = "ban";
  record_ruling(*sample_, ruling);
  EXPECT_EQ(chosen(), "faster") << "a ban lifts the pin";
  EXPECT_EQ(rulings_in_force(*sample_, sample_.key.problem, sample_.key.device).size(), 1u);
  ruling.why.clear();
  EXPECT_EQ(message_of<UsageError>([&] { record_ruling(*sample_, ruling); }), "a ban needs its reason: add --why \"…\"");
}

TEST_F(Choices, are_what_a_package_is_made_of) {
  sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.6)});
  PackageRow package;
  package.set_name = "night";
  package.manifest = "{}";
  package.library = content_digest("libnight.a");
  package.items.push_back({record_choice(*sample_, choice_of(fast_)), "x86-64-linux-avx2", "night_matmul_0", 0});
  record_package(*sample_, package);
  Statement row = sample_->connection().query("SELECT count(*) FROM package_item");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), 1);
}

}  // namespace
}  // namespace kiln::db
