// Running a command line in a test and looking at what it printed.
#pragma once

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <sys/wait.h>

namespace kiln::tests {

struct ShellOutcome {
  int status = 0;      // the exit code, -1 for a signal
  std::string output;  // both streams
};

inline ShellOutcome shell(const std::string& command) {
  FILE* pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  ShellOutcome outcome;
  std::array<char, 4096> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) outcome.output.append(part.data(), count);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace kiln::tests
