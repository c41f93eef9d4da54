#include "apart.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace kiln::gpu {
namespace {

constexpr char kAllDone[] = "all done";  // no test's name: it has a blank

void say(int pipe, const std::string& line) {
  const std::string text = line + "\n";
  if (write(pipe, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::_Exit(1);  // there is nobody to say it to
}

class TellsWhatBegins : public testing::EmptyTestEventListener {
 public:
  explicit TellsWhatBegins(int pipe) : pipe_(pipe) {}
  void OnTestStart(const testing::TestInfo& test) override { say(pipe_, std::string(test.test_suite_name()) + "." + test.name()); }

 private:
  int pipe_;
};

[[noreturn]] void run_tests(int pipe, const std::string& filter) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  testing::GTEST_FLAG(filter) = filter;
  testing::UnitTest::GetInstance()->listeners().Append(new TellsWhatBegins(pipe));
  const int exit_code = RUN_ALL_TESTS();
  say(pipe, kAllDone);
  std::exit(exit_code);
}

std::vector<std::string> lines_from(int pipe) {
  std::vector<std::string> lines(1);
  char piece[4096];
  for (ssize_t got; (got = read(pipe, piece, sizeof piece)) != 0;) {
    if (got < 0 && errno != EINTR) throw std::runtime_error("the tests' process cannot be listened to");
    for (ssize_t i = 0; i < got; ++i) {
      if (piece[i] == '\n') lines.emplace_back();
      else lines.back() += piece[i];
    }
  }
  lines.pop_back();
  return lines;
}

struct Outcome {
  std::vector<std::string> begun;
  bool is_done = false;    // all tests were run
  bool has_passed = false;
};

Outcome run_in_child(const std::string& filter) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process can be made");
  if (child == 0) {
    close(ends[0]);
    run_tests(ends[1], filter);
  }
  close(ends[1]);
  Outcome outcome{.begun = lines_from(ends[0])};
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("the tests' process was lost");
  outcome.is_done = !outcome.begun.empty() && outcome.begun.back() == kAllDone;
  outcome.has_passed = outcome.is_done && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return outcome;
}

}  // namespace

std::string without(const std::string& filter, const std::vector<std::string>& patterns) {
  std::string all = filter;
  for (const std::string& pattern : patterns) all += (all.find('-') == std::string::npos ? "-" : ":") + pattern;
  return all;
}

std::string pattern_of_parameter(const std::string& test) {
  const std::size_t slash = test.find('/', test.find('.'));
  return slash == std::string::npos ? test : "*" + test.substr(slash);
}

int run_all_apart() {
  std::string filter = testing::GTEST_FLAG(filter);
  std::vector<std::string> lost;
  for (bool has_passed = true;;) {
    Outcome outcome = run_in_child(filter);
    has_passed &= outcome.has_passed;
    if (outcome.is_done || outcome.begun.empty()) {
      for (const std::string& test : lost) std::printf("[  FAILED  ] %s ended its process; those of its parameter that were left are not run\n", test.c_str());
      return has_passed ? 0 : 1;
    }
    lost.push_back(outcome.begun.back());
    std::printf("[  FAILED  ] %s ended its process; the next ones are run in another\n", lost.back().c_str());
    outcome.begun.push_back(pattern_of_parameter(lost.back()));
    filter = without(filter, outcome.begun);
  }
}

}  // namespace kiln::gpu
