#include "tests/equivalence/trial.h"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

#include "dsl/error.h"
#include "generators/host/host.h"
#include "generators/runtime/host.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

// Of a build, in processor time, so that other work on the machine decides nothing. Of 635 schedules of the five operators, tried while the machine was
// three times overbooked, half took 0.5 s, 99 in 100 at most 5 s, one more than 15.
constexpr unsigned kBuildSeconds = 20;
constexpr unsigned kCallSeconds = 20;  // a call takes microseconds
constexpr char kBuilt = '.';           // the child's first word after a build

void say(int to, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(to, text.data() + sent, text.size() - sent);
    if (n < 0 && errno != EINTR) _exit(1);
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
}

std::string words(Outcome::Kind kind, const std::string& text) { return static_cast<char>(kind) + text; }

// In the child: the outcome as words.
std::string judge(const Subject& subject, const Algorithm& algorithm, const Schedule& schedule, const Device& device, int to) {
  const generators::Build build = host::build(algorithm, schedule, subject.problem(), device);
  if (build.rejection) {
    const bool by_halide = build.rejection->reason == generators::Reason::schedule_error || build.rejection->reason == generators::Reason::compile_error;
    return words(by_halide ? Outcome::Kind::refused : Outcome::Kind::over_device, build.rejection->text);
  }
  const host::Loaded loaded(*build.artifact);
  const itimerval none{};
  setitimer(ITIMER_PROF, &none, nullptr);
  alarm(kCallSeconds);
  say(to, {kBuilt});
  if (const auto shortfall = subject.shortfall(loaded)) return words(Outcome::Kind::needs_more, *shortfall);
  if (kiln_host_start(2) != KILN_HOST_OK) throw EnvironmentError(kiln_host_error_text());
  const std::string difference = subject.difference(loaded);
  kiln_host_stop();
  return words(difference.empty() ? Outcome::Kind::equal : Outcome::Kind::wrong, difference);
}

[[noreturn]] void run_child(const Subject& subject, const Algorithm& algorithm, const Schedule& schedule, const Device& device, int to) {
  std::signal(SIGALRM, SIG_DFL);
  std::signal(SIGPROF, SIG_DFL);
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = kBuildSeconds, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  try {
    say(to, judge(subject, algorithm, schedule, device, to));
  } catch (const std::exception& error) {
    say(to, words(Outcome::Kind::wrong, error.what()));
  }
  _exit(0);
}

std::string hear(int from) {
  std::string heard;
  char piece[4096];
  for (;;) {
    const ssize_t n = read(from, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return heard;
    heard.append(piece, static_cast<std::size_t>(n));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw EnvironmentError(std::string("waitpid: ") + std::strerror(errno));
  return status;
}

Outcome outcome(const std::string& heard, int status) {
  const bool is_built = heard.starts_with(kBuilt);
  const std::string last = heard.substr(is_built ? 1 : 0);
  const std::string during = is_built ? "during the call" : "during the build";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF && !is_built) return {Outcome::Kind::slow_build, {}};
  if (WIFSIGNALED(status)) return {Outcome::Kind::wrong, during + ": " + strsignal(WTERMSIG(status))};
  if (last.empty()) return {Outcome::Kind::wrong, during + ": ended without a word"};
  return {static_cast<Outcome::Kind>(last.front()), last.substr(1)};
}

}  // namespace

Outcome try_schedule(const Subject& subject, const Algorithm& algorithm, const Schedule& schedule, const Device& device) {
  int ends[2];
  if (pipe(ends) != 0) throw EnvironmentError(std::string("pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) throw EnvironmentError(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    run_child(subject, algorithm, schedule, device, ends[1]);
  }
  close(ends[1]);
  const std::string heard = hear(ends[0]);
  close(ends[0]);
  return outcome(heard, wait_for(child));
}

}  // namespace kiln::tests
