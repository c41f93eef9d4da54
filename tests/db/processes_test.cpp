// Many processes on one file, and processes that are killed while they write.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "db/check.h"
#include "tests/db/sample_store.h"
#include "tests/db/temporary_folder.h"

namespace kiln::db {
namespace {

pid_t in_child(const std::function<void()>& act) {
  const pid_t child = fork();
  if (child != 0) return child;
  int code = 0;
  try {
    act();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  _exit(code);
}

TEST(Processes, may_create_and_write_one_store_at_once) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  constexpr int kProcesses = 8, kEach = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i)
    children.push_back(in_child([&, i] {
      SampleStore sample(path);
      const RunId run = sample.run();
      for (int n = 0; n < kEach; ++n) sample.ok_trial(run, "s" + std::to_string(i) + "." + std::to_string(n));
    }));
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  SampleStore sample(path);
  EXPECT_EQ(known_outcomes(*sample, sample.key).size(), static_cast<std::size_t>(kProcesses * kEach));
  EXPECT_EQ(findings(*sample), "");
}

// What the child reports over the pipe was committed before: it must be there, whenever the child dies.
TEST(Processes, killed_while_writing_lose_nothing_committed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("kiln.db");
  { SampleStore sample(path); }
  std::int64_t reported = 0;
  for (int round = 0; round < 10; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = in_child([&] {
      SampleStore sample(path);
      const RunId run = sample.run();
      for (int n = 0;; ++n) {
        const auto id = static_cast<std::int64_t>(sample.ok_trial(run, "r" + std::to_string(round) + "." + std::to_string(n)));
        if (::write(ends[1], &id, sizeof id) != sizeof id) return;
      }
    });
    close(ends[1]);
    std::vector<std::int64_t> ids;
    std::int64_t id = 0;
    const std::size_t enough = 2 + static_cast<std::size_t>(round);
    while (read(ends[0], &id, sizeof id) == sizeof id) {
      ids.push_back(id);
      if (ids.size() == enough) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
      }
    }
    close(ends[0]);
    ASSERT_GE(ids.size(), enough);
    SampleStore sample(path);
    EXPECT_EQ(recover(*sample).interrupted_runs, 1);
    EXPECT_TRUE(std::all_of(ids.begin(), ids.end(), [&](std::int64_t each) { return trial(*sample, static_cast<TrialId>(each)).state == "done"; }));
    EXPECT_LE(suspects(*sample, sample.key.device, sample.key.toolchain).size(), static_cast<std::size_t>(round + 1)) << "one in flight a kill";
    EXPECT_EQ(findings(*sample), "");
    reported += static_cast<std::int64_t>(ids.size());
  }
  SampleStore sample(path);
  EXPECT_GE(known_outcomes(*sample, sample.key).size(), static_cast<std::size_t>(reported));
}

}  // namespace
}  // namespace kiln::db
