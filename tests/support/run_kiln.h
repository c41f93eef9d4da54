// Starts the real program in a folder of its own and keeps what it said.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/db/temporary_folder.h"

namespace kiln {

struct Said {
  int code = 0;  // the exit code; 128 + signal when a signal ended it
  std::string out, err;
};

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class RunningKiln {
 public:
  RunningKiln(const db::TemporaryFolder& folder, std::vector<std::string> arguments, const std::string& program = KILN_PROGRAM) : folder_(folder) {
    static int count = 0;
    out_ = folder.file("out." + std::to_string(++count));
    err_ = folder.file("err." + std::to_string(count));
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    if (chdir(folder.path().c_str()) != 0) _exit(126);
    dup2(open(out_.c_str(), O_CREAT | O_WRONLY, 0600), STDOUT_FILENO);
    dup2(open(err_.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
    unsetenv("KILN_DB");
    unsetenv("KILN_CACHE_DIR");
    execv(argv[0], argv.data());
    _exit(127);
  }

  pid_t pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }
  std::string err_so_far() const { return text_of(err_); }

  bool has_ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }

  // False when it still runs after `seconds`.
  bool ends_within(double seconds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!has_ended() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return ended_;
  }

  Said wait() {
    if (!ended_) waitpid(pid_, &status_, 0);
    ended_ = true;
    return {WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_), text_of(out_), text_of(err_)};
  }

 private:
  const db::TemporaryFolder& folder_;
  std::string out_, err_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

inline Said run_kiln(const db::TemporaryFolder& folder, const std::vector<std::string>& arguments) { return RunningKiln(folder, arguments).wait(); }
inline Said run_program(const db::TemporaryFolder& folder, const std::string& program, const std::vector<std::string>& arguments = {}) {
  return RunningKiln(folder, arguments, program).wait();
}

}  // namespace kiln
