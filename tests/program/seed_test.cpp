// Two runs that know the same propose the same, and never what is known.
#include <gtest/gtest.h>

#include "tests/program/stored.h"
#include "tests/support/run_kiln.h"

namespace kiln::tests {
namespace {

namespace fs = std::filesystem;

constexpr int kBatch = 8;  // a run's first proposals, made before it has any outcome of its own

Said tune(const db::TemporaryFolder& folder) {
  return run_kiln(folder, {"tune", "matmul", "--problem", "matmul(m=48, n=64, k=32)", "--seed", "7", "--wait", "--for", "7s"});
}

std::vector<std::string> proposals_of_latest_run(const std::string& path) {
  db::Store store(path);
  db::Statement row = store.connection().query(
      "SELECT s.text FROM trial t JOIN schedule s USING (schedule_id) WHERE t.run_id = (SELECT max(run_id) FROM run) ORDER BY t.trial_id");
  std::vector<std::string> texts;
  while (row.step()) texts.push_back(row.text(0));
  return texts;
}

TEST(Seed, runs_on_copies_of_one_store_propose_the_same_and_nothing_twice) {
  const db::TemporaryFolder first, copies[2];
  ASSERT_EQ(tune(first).code, 0);
  const std::set<std::string> before = committed_results(first.file("kiln.db"));
  std::vector<std::string> proposed[2];
  for (int i = 0; i < 2; ++i) {
    fs::copy(first.path(), copies[i].path(), fs::copy_options::recursive);
    const Said said = tune(copies[i]);
    ASSERT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(tried_twice(copies[i].file("kiln.db")), std::vector<std::string>{});
    EXPECT_EQ(lost(before, committed_results(copies[i].file("kiln.db"))), std::vector<std::string>{});
    proposed[i] = proposals_of_latest_run(copies[i].file("kiln.db"));
    ASSERT_GE(proposed[i].size(), kBatch) << said.err;
    proposed[i].resize(kBatch);
  }
  EXPECT_EQ(proposed[0], proposed[1]);
}

}  // namespace
}  // namespace kiln::tests
