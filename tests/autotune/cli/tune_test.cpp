// A short night with the real program: it ends in time with a table, can be watched, interrupted, resumed, explained and replayed.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/run_kiln.h"

namespace kiln::autotune::cli {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kTune = {"tune", "matmul", "--problem", "matmul(m=48, n=64, k=32)", "--wait", "--for"};

std::vector<std::string> tune_for(const char* time) {
  std::vector<std::string> arguments = kTune;
  arguments.push_back(time);
  return arguments;
}

bool wait_for(RunningKiln& kiln, const std::string& text) {
  for (int i = 0; i < 1200 && !kiln.has_ended(); ++i) {
    if (kiln.err_so_far().find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST(Tune, a_run_ends_with_a_table_and_its_result_can_be_looked_at_again) {
  db::TemporaryFolder folder;
  RunningKiln tuner(folder, tune_for("25s"));
  ASSERT_TRUE(wait_for(tuner, "phase=baseline")) << tuner.wait().err;
  const Said status = run_kiln(folder, {"status", "--json"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_EQ(Json::parse(status.out)["runs"][0]["state"], "running");
  const Said said = tuner.wait();
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("matmul(m=48, n=64, k=32"), std::string::npos) << said.out;

  const Json best = Json::parse(run_kiln(folder, {"best", "--json"}).out);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_FALSE(best[0]["baseline"].get<std::string>().empty());
  EXPECT_GT(best[0]["tried"], 1);
  const std::string candidate = best[0]["candidate"];
  const Said explained = run_kiln(folder, {"explain", candidate, "--json"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_EQ(Json::parse(explained.out)["candidate"], candidate);
  const Said replayed = run_kiln(folder, {"replay", candidate, "--wait", "--json"});
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  EXPECT_GT(Json::parse(replayed.out)["value_ns"], 0);
  EXPECT_EQ(run_kiln(folder, {"db", "check"}).code, 0);
  EXPECT_EQ(Json::parse(run_kiln(folder, {"report", "--json"}).out)["runs"].size(), 2u);
}

TEST(Tune, a_search_ends_with_the_last_candidate_that_it_may_try) {
  db::TemporaryFolder folder;
  std::vector<std::string> arguments = tune_for("10m");
  arguments.insert(arguments.end(), {"--candidates", "6"});
  const Said said = RunningKiln(folder, arguments).wait();
  ASSERT_EQ(said.code, 0) << said.err;
  const Json best = Json::parse(run_kiln(folder, {"best", "--json"}).out);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0]["tried"], 6);
}

TEST(Tune, an_interrupt_keeps_what_is_known_and_says_how_to_go_on) {
  db::TemporaryFolder folder;
  RunningKiln tuner(folder, tune_for("10m"));
  ASSERT_TRUE(wait_for(tuner, "phase=measuring")) << tuner.wait().err;
  tuner.signal(SIGINT);
  const Said said = tuner.wait();
  EXPECT_EQ(said.code, 130) << said.err;
  EXPECT_NE(said.err.find("kiln: interrupted; everything so far is kept. To go on:\n  kiln tune matmul --problem 'matmul(m=48, n=64, k=32)' --wait --for 10m\n"),
            std::string::npos)
      << said.err;
  EXPECT_EQ(Json::parse(run_kiln(folder, {"status", "--json"}).out)["runs"][0]["state"], "interrupted");
}

TEST(Tune, termination_chooses_first) {
  db::TemporaryFolder folder;
  RunningKiln tuner(folder, tune_for("10m"));
  ASSERT_TRUE(wait_for(tuner, "phase=measuring")) << tuner.wait().err;
  tuner.signal(SIGTERM);
  const Said said = tuner.wait();
  EXPECT_EQ(said.code, 143) << said.err;
  EXPECT_EQ(Json::parse(run_kiln(folder, {"best", "--json"}).out).size(), 1u);
}

}  // namespace
}  // namespace kiln::autotune::cli
