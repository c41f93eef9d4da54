// Generators that fail, each in its own way: a candidate at fault costs itself, an algorithm at fault is one clear error. Nothing hangs, nothing is left
// running, and `kiln status` says what happened. How each fails is told in tests/plugins/hostile_generators.cpp.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/program/stored.h"
#include "tests/support/processes.h"
#include "tests/support/run_kiln.h"

namespace kiln::tests {
namespace {

using Json = nlohmann::json;

// Beyond the budget, before a run counts as hanging.
constexpr double kPatience_s = 40;

class Hostile : public ::testing::Test {
 protected:
  Said tune(std::vector<std::string> operators, const std::string& budget = "6s") {
    std::vector<std::string> arguments = {"tune"};
    arguments.insert(arguments.end(), operators.begin(), operators.end());
    arguments.insert(arguments.end(), {"--load", KILN_BINARY_DIR "/tests/plugins/libhostile_generators.so", "--wait", "--for", budget});
    RunningKiln tuner(folder_, arguments);
    if (!tuner.ends_within(6 + kPatience_s)) {
      ADD_FAILURE() << "hangs: " << tuner.err_so_far();
      tuner.signal(SIGKILL);
    }
    const Said said = tuner.wait();
    EXPECT_EQ(names_of_processes_in(folder_.path()), std::vector<std::string>{}) << "left running";
    return said;
  }

  Json status() { return Json::parse(run_kiln(folder_, {"status", "--json"}).out); }

  // The one error of a run that could do nothing: the last words on stderr, the end of the run in the store. `sentence` is a regular expression.
  void expect_one_error(const std::string& generator, const std::string& sentence) {
    const Said said = tune({generator});
    EXPECT_EQ(said.code, 2) << said.err;
    EXPECT_EQ(said.out, "");
    const std::size_t begin = said.err.find("kiln: ");
    ASSERT_NE(begin, std::string::npos) << said.err;
    const std::string words = said.err.substr(begin + 6);
    EXPECT_TRUE(std::regex_match(words, std::regex(sentence + "\n"))) << words;
    const Json run = status()["runs"][0];
    EXPECT_EQ(run["state"], "failed");
    EXPECT_EQ(run["faults"], Json::array({"failed: " + words.substr(0, words.size() - 1)}));
    EXPECT_EQ(run_kiln(folder_, {"db", "check"}).code, 0);
  }

  // A run that ends with a choice, whose own schedule was rejected as `reason` with a text like `text`; no reason: nothing failed.
  void expect_tuned(const std::string& generator, const std::string& reason, const std::string& text = "") {
    // The limit of a step is a share of the time there is: enough of it for a busy machine, and not all of it is used.
    const Said said = tune({generator, "--candidates", "6"}, "20s");
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(count(folder_.file("kiln.db"), "SELECT count(*) FROM v_choice_in_force"), 1) << said.err;
    const Json failures = status()["failures"];
    EXPECT_EQ(failures.size(), reason.empty() ? 0U : 1U) << failures;
    if (reason.empty() || failures.empty()) return;
    EXPECT_EQ(failures[0]["reason"], reason);
    EXPECT_TRUE(std::regex_match(failures[0]["text"].get<std::string>(), std::regex(text))) << failures[0]["text"];
    const Json best = Json::parse(run_kiln(folder_, {"best", "--json"}).out);
    EXPECT_EQ(best[0]["baseline"], "Mullapudi2016");
  }

  db::TemporaryFolder folder_;
};

TEST_F(Hostile, a_segfault_of_the_algorithm_is_one_error) {
  expect_one_error("segfault_at_run", R"(the reference of segfault_at_run\(input\.0=4096, output\.0=4096\) ended with signal 11 \(SIGSEGV\); an algorithm that reads )"
                                      R"(outside its inputs does this, and so does a problem too large to check \(key [0-9a-f]{12}\))");
}

TEST_F(Hostile, an_algorithm_that_never_ends_is_one_error_within_the_budget) {
  expect_one_error("endless_at_run", R"(the reference of endless_at_run\(input\.0=4096, output\.0=4096\) did not end: time-out: \d+\.\d s of 2\.4 s; a longer --for )"
                                     R"(gives it longer, up to 300 s \(key [0-9a-f]{12}\))");
}

TEST_F(Hostile, an_abort_inside_the_compiler_is_one_error) {
  expect_one_error("abort_at_compile", R"(the reference of abort_at_compile\(input\.0=4096, output\.0=4096\) cannot be built: the compiler ended with signal 6 )"
                                       R"(\(SIGABRT\) under a limit of 4096 MiB; its last output:\nLLVM ERROR: Cannot select: intrinsic %llvm\.nvvm\.ex2\.approx\.ftz\.f)");
}

TEST_F(Hostile, exceptions_of_generate_are_told_as_they_are) {
  expect_one_error("throws_in_generate", R"(`throws_in_generate`: generate\(\) threw std::runtime_error: the table of weights is empty)");
}

TEST_F(Hostile, a_thrown_number_is_told_by_its_type) { expect_one_error("throws_number", R"(`throws_number`: generate\(\) threw a value of type int)"); }

TEST_F(Hostile, a_mistake_that_halide_reports_is_told_in_its_words) {
  expect_one_error("halide_error_in_generate",
                   R"(`halide_error_in_generate`: generate\(\) threw Can't call Func "undefined" because it has not yet been defined\.)");
}

TEST_F(Hostile, a_generate_that_sleeps_for_ever_is_killed_within_the_budget) {
  expect_one_error("never_generates", R"(asking generator `never_generates` for its parameters ended its process: time-out: \d+\.\d s of 2\.4 s)");
}

TEST_F(Hostile, a_generate_that_prints_for_ever_is_killed_within_the_budget) {
  expect_one_error("endless_output", R"(asking generator `endless_output` for its parameters ended its process: time-out: \d+\.\d s of 2\.4 s; its last output:)"
                                     R"((\n(still generating)?)+)");
}

TEST_F(Hostile, a_stack_overflow_in_generate_is_one_error) {
  expect_one_error("stack_overflow_at_read", R"(asking generator `stack_overflow_at_read` for its parameters ended its process: signal 11 \(SIGSEGV\))");
}

TEST_F(Hostile, wrong_results_of_the_authors_schedule_cost_that_schedule) {
  expect_tuned("wrong_result", "wrong_result",
               R"(wrong_result\(input\.0=4096, output\.0=4096\): output output, element \(x=\d+\): got \S+, expected \S+ ± \S+; \d+ of 4096 elements are off)");
}

TEST_F(Hostile, nan_where_numbers_belong_costs_that_schedule) {
  expect_tuned("nan_by_schedule", "wrong_result",
               R"(nan_by_schedule\(input\.0=4096, output\.0=4096\): output output, element \(x=\d+\): got -?nan, expected \S+ ± \S+; \d+ of 4096 elements are off)");
}

TEST_F(Hostile, nan_that_was_asked_for_is_right) { expect_tuned("nan_result", ""); }

TEST_F(Hostile, megabytes_printed_by_generate_disturb_nobody) { expect_tuned("chatty_generate", ""); }

TEST_F(Hostile, one_problem_at_fault_does_not_end_the_run_of_another) {
  const Said said = tune({"segfault_at_run", "throws_in_schedule"}, "8s");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.err.find("kiln: the reference of segfault_at_run(input.0=4096, output.0=4096) ended with signal 11 (SIGSEGV)"), std::string::npos) << said.err;
  const Json run = status()["runs"][0];
  EXPECT_EQ(run["state"], "done");
  ASSERT_EQ(run["faults"].size(), 1U) << run;
  EXPECT_EQ(run["faults"][0].get<std::string>().find("untunable: the reference of segfault_at_run"), 0U) << run;
  EXPECT_EQ(count(folder_.file("kiln.db"), "SELECT count(*) FROM v_choice_in_force c JOIN problem p USING (problem_id) WHERE p.operator = 'throws_in_schedule'"), 1);
}

}  // namespace
}  // namespace kiln::tests
