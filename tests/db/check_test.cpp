// Damage that SQLite does not see.
#include "db/check.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/db/sample_store.h"
#include "tests/db/temporary_folder.h"

namespace kiln::db {
namespace {

class Check : public testing::Test {
 protected:
  void break_by(const std::string& sql) { sample_->connection().script("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; " + sql + " PRAGMA ignore_check_constraints = OFF;"); }
  void choose_fast() {
    put_artifact(*sample_, "object", "object of fast");
    ChoiceRow row;
    row.key = sample_.key;
    row.decision = "specialise";
    row.trial = fast_;
    row.why = "faster";
    record_choice(*sample_, row);
  }

  SampleStore sample_;
  RunId run_ = sample_.run();
  TrialId base_ = sample_.ok_trial(run_, "base"), fast_ = sample_.ok_trial(run_, "fast");
  RaceId race_ = sample_.race(run_, base_, {SampleStore::timing(base_, 1), SampleStore::timing(fast_, 0.5)});
};

TEST_F(Check, finds_nothing_in_a_good_store) {
  choose_fast();
  EXPECT_EQ(findings(*sample_), "");
}

TEST_F(Check, finds_changed_bytes_and_texts) {
  put_artifact(*sample_, "object", "bytes");
  break_by("UPDATE artifact SET bytes = x'00' WHERE kind = 'object'; UPDATE toolchain SET text = 'x';");
  EXPECT_EQ(findings(*sample_), "artifacts: object " + content_digest("bytes").short_hex() + " has content with the digest " +
                                    content_digest(std::string(1, '\0')).short_hex() + "\ndigests: toolchain " +
                                    digest("toolchain", "gcc 12; codegen 1").short_hex() + " has a text with the digest " + digest("toolchain", "x").short_hex() + "\n");
}

TEST_F(Check, finds_references_to_nothing) {
  break_by("DELETE FROM toolchain;");
  EXPECT_EQ(findings(*sample_).find("foreign_keys: row 1 of "), 0u);
}

TEST_F(Check, finds_races_that_lost_or_changed_their_baseline) {
  break_by("UPDATE measurement SET ratio = 0.9, ratio_lo = 0.9 WHERE trial_id = 1;");
  EXPECT_EQ(findings(*sample_), "races: race 1 gives its baseline the ratio 0.9\n");
  break_by("DELETE FROM measurement WHERE trial_id = 1;");
  EXPECT_EQ(findings(*sample_), "races: race 1 has no measurement of its baseline\n");
}

TEST_F(Check, finds_choices_that_lost_their_proof_or_their_object) {
  choose_fast();
  VerificationRow failed;
  failed.what = "exported";
  failed.reference = "f64";
  failed.tolerance = "8 eps";
  record_verification(*sample_, fast_, failed);
  break_by("DELETE FROM artifact WHERE kind = 'object';");
  EXPECT_EQ(findings(*sample_),
            "choices: choice 1 is in force though its candidate failed a later check\n"
            "choices: choice 1 is in force but its object is not in the store\n");
}

TEST_F(Check, finds_rows_that_break_a_constraint) {
  break_by("UPDATE measurement SET mad_ns = -1 WHERE trial_id = 2;");
  EXPECT_EQ(findings(*sample_), "integrity: CHECK constraint failed in measurement\n");
}

TEST(Backup, is_a_store_of_its_own_and_never_overwrites) {
  const TemporaryFolder folder;
  SampleStore sample(folder.file("kiln.db"));
  backup(*sample, folder.file("copy.db"));
  Store copy(folder.file("copy.db"));
  EXPECT_EQ(problems(copy).size(), 1u);
  EXPECT_EQ(findings(copy), "");
  EXPECT_EQ(message_of<DataError>([&] { backup(*sample, folder.file("copy.db")); }),
            "cannot copy " + folder.file("kiln.db") + " to " + folder.file("copy.db") + ": it exists; name another file");
  vacuum(*sample);
  EXPECT_EQ(findings(*sample), "");
}

}  // namespace
}  // namespace kiln::db
