// Starts the real program in a folder of its own and keeps what it said.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
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
  RunningKiln(const db::TemporaryFolder& folder, std::vector<std::string> arguments) : folder_(folder) {
    static int count = 0;
    out_ = folder.file("out." + std::to_string(++count));
    err_ = folder.file("err." + std::to_string(count));
    arguments.insert(arguments.begin(), KILN_BINARY_DIR "/bin/kiln");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    if (chdir(folder.path().c_str()) != 0) _exit(126);
    dup2(open(out_.c_str(), O_CREAT | O_WRONLY, 0600), STDOUT_FILENO);
    dup2(open(err_.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
    unsetenv("KILN_DB");
    execv(argv[0], argv.data());
    _exit(127);
  }

  void signal(int number) const { kill(pid_, number); }
  std::string err_so_far() const { return text_of(err_); }

  bool has_ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
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

}  // namespace kiln
