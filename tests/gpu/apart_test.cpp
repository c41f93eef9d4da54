// A test that ends its process costs itself and the others of its parameter; the program itself is run again, with tests that are meant for that alone.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "apart.h"

namespace kiln::gpu {
namespace {

struct Ended {
  std::string output;
  int exit_code = 0;
};

Ended run_again(const std::string& filter) {
  const std::string command = std::filesystem::read_symlink("/proc/self/exe").string() + " --gtest_also_run_disabled_tests --gtest_filter='" + filter + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("the program cannot be run again");
  Ended ended;
  for (int c; (c = std::fgetc(pipe)) != EOF;) ended.output += static_cast<char>(c);
  const int status = pclose(pipe);
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

class DISABLED_Kinds : public testing::TestWithParam<const char*> {};
TEST_P(DISABLED_Kinds, first) {
  if (GetParam() == std::string("ending")) std::_Exit(0);
}
TEST_P(DISABLED_Kinds, second) { EXPECT_STRNE(GetParam(), "failing"); }
INSTANTIATE_TEST_SUITE_P(All, DISABLED_Kinds, testing::Values("right", "ending", "failing", "last"), [](const auto& one) { return std::string(one.param); });

TEST(Apart, a_test_that_ends_its_process_has_failed_and_the_rest_is_run) {
  const Ended ended = run_again("*DISABLED_Kinds*-*/failing");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(count(ended.output, "[  FAILED  ] All/DISABLED_Kinds.first/ending ended its process; those of its parameter that were left are not run"), 1u) << ended.output;
  for (const char* test : {"first/right", "first/last", "second/right", "second/last"})
    EXPECT_EQ(count(ended.output, std::string("[       OK ] All/DISABLED_Kinds.") + test), 1u) << ended.output;
  EXPECT_EQ(count(ended.output, "second/ending"), 0u) << ended.output;
}

TEST(Apart, a_failure_before_is_not_forgotten) {
  EXPECT_EQ(run_again("*DISABLED_Kinds*/failing").exit_code, 1);
  EXPECT_EQ(run_again("*DISABLED_Kinds*/right").exit_code, 0);
}

TEST(Apart, patterns_are_taken_out_of_a_filter) {
  EXPECT_EQ(without("*", {"A.b", "*/x"}), "*-A.b:*/x");
  EXPECT_EQ(without("*a*-*b*", {"A.b"}), "*a*-*b*:A.b");
  EXPECT_EQ(pattern_of_parameter("All/A.b/x"), "*/x");
  EXPECT_EQ(pattern_of_parameter("A.b"), "A.b");
}

}  // namespace
}  // namespace kiln::gpu
