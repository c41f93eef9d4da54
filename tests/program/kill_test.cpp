// kill -9 at random moments: of the program itself, of its compile workers, of its measuring worker. Nothing that was committed is lost, changed or
// done again, and the next run goes on from there.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <random>

#include "tests/program/stored.h"
#include "tests/support/processes.h"
#include "tests/support/run_kiln.h"

namespace kiln::tests {
namespace {

constexpr int kKills = 20;
constexpr double kBudget_s = 7;
// A run may hold the machine this much longer than it promised before it counts as hanging: the test's machine is shared.
constexpr double kPatience_s = 60;

const std::vector<std::string> kTune = {"tune", "matmul", "--problem", "matmul(m=48, n=64, k=32)", "--wait", "--for", "7s"};

class Killing : public ::testing::Test {
 protected:
  // A run is repeated, as far as the machine's timing allows, with the seed that it printed.
  Killing() : seed_(::testing::GTEST_FLAG(random_seed)) {
    if (seed_ == 0) seed_ = static_cast<int>(std::random_device{}() % 99999 + 1);
    std::printf("moments of --gtest_random_seed=%d\n", seed_);
    random_.seed(static_cast<unsigned>(seed_));
  }

  double moment(double least_s, double most_s) { return std::uniform_real_distribution(least_s, most_s)(random_); }

  // Kills a worker of that name, when there is one in the next few seconds.
  bool kill_worker(RunningKiln& kiln, const std::string& name) {
    for (int looks = 0; looks < 300 && !kiln.has_ended(); ++looks) {
      std::vector<Process> workers = children_of(kiln.pid());
      std::erase_if(workers, [&](const Process& process) { return process.name != name; });
      if (!workers.empty()) {
        const auto at = std::uniform_int_distribution<std::size_t>(0, workers.size() - 1)(random_);
        return ::kill(workers[at].pid, SIGKILL) == 0;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::set<std::string> results() const { return committed_results(folder_.file("kiln.db")); }

  // The run that follows a kill finds all that was there, and adds to it.
  void expect_kept(const std::set<std::string>& before, const std::string& after_what) {
    const std::vector<std::string> missing = lost(before, results());
    EXPECT_TRUE(missing.empty()) << missing.size() << " rows are gone or changed " << after_what << ", the first: " << (missing.empty() ? "" : missing[0]);
    const std::vector<std::string> twice = tried_twice(folder_.file("kiln.db"));
    EXPECT_TRUE(twice.empty()) << twice.size() << " candidates were tried twice " << after_what << ", the first: " << (twice.empty() ? "" : twice[0]);
  }

  // The kernel ends the workers of a supervisor that was killed: soon, not at once.
  void expect_no_orphans() {
    std::vector<std::string> names = names_of_processes_in(folder_.path());
    for (int looks = 0; looks < 500 && !names.empty(); ++looks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      names = names_of_processes_in(folder_.path());
    }
    EXPECT_EQ(names, std::vector<std::string>{}) << "outlived their supervisor";
  }

  void expect_a_clean_end() {
    const Said checked = run_kiln(folder_, {"db", "check"});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    EXPECT_EQ(count(folder_.file("kiln.db"), "SELECT count(*) FROM v_choice_in_force"), 1);
    EXPECT_EQ(count(folder_.file("kiln.db"), "SELECT count(*) FROM trial WHERE state IN ('planned', 'running')"), 0);
    EXPECT_EQ(count(folder_.file("kiln.db"), "SELECT count(*) FROM run WHERE state = 'running'"), 0);
    EXPECT_EQ(names_of_processes_in(folder_.path()), std::vector<std::string>{});
  }

  int seed_;
  std::mt19937 random_;
  db::TemporaryFolder folder_;
};

TEST_F(Killing, of_the_supervisor_loses_nothing_and_the_next_run_goes_on) {
  std::set<std::string> before;
  int killed = 0;
  for (int run = 0; run < 4 * kKills && killed < kKills / 2; ++run) {
    RunningKiln tuner(folder_, kTune);
    const double when_s = moment(0.1, 6);
    if (tuner.ends_within(when_s)) {  // some moments lie behind the end of a quick run
      const Said said = tuner.wait();
      EXPECT_EQ(said.code, 0) << said.err;
    } else {
      tuner.signal(SIGKILL);
      EXPECT_EQ(tuner.wait().code, 128 + SIGKILL);
      ++killed;
      expect_no_orphans();
    }
    if (!std::filesystem::exists(folder_.file("kiln.db"))) continue;  // killed before there was a store
    expect_kept(before, "after kill " + std::to_string(killed) + " at " + std::to_string(when_s) + " s");
    before = results();
  }
  EXPECT_EQ(killed, kKills / 2);
  const Said last = run_kiln(folder_, kTune);
  EXPECT_EQ(last.code, 0) << last.err;
  expect_kept(before, "after the last run");
  EXPECT_GT(count(folder_.file("kiln.db"), "SELECT count(*) FROM run_event WHERE kind = 'resumed'"), 0);
  expect_a_clean_end();
}

TEST_F(Killing, of_workers_does_not_end_the_run) {
  int killed = 0;
  std::set<std::string> before;
  for (int run = 0; run < 2 * kKills && killed < kKills / 2; ++run) {
    RunningKiln tuner(folder_, kTune);
    std::string log;
    for (double at_s = moment(0.1, 2); !tuner.ends_within(at_s); at_s = moment(0.5, 2)) {
      if (killed == kKills / 2) break;
      const std::string name = killed % 2 == 0 ? "kiln-measure" : "kiln-compile";
      if (!kill_worker(tuner, name)) continue;
      log += " " + name;
      ++killed;
    }
    ASSERT_TRUE(tuner.ends_within(kBudget_s + kPatience_s)) << "hangs after kills of" << log;
    const Said said = tuner.wait();
    EXPECT_EQ(said.code, 0) << "after kills of" << log << ": " << said.err;
    expect_kept(before, "after kills of" + log);
    before = results();
  }
  EXPECT_EQ(killed, kKills / 2);
  EXPECT_EQ(count(folder_.file("kiln.db"), "SELECT count(*) FROM trial WHERE reason IN ('worker_crash', 'compiler_crash')"), 0)
      << "a worker killed from outside is no candidate's fault";
  expect_a_clean_end();
}

}  // namespace
}  // namespace kiln::tests
