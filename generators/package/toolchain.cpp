#include "generators/package/toolchain.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dsl/error.h"

extern char** environ;

namespace kiln::generators::package {

namespace {

bool is_on_path(const std::string& tool) {
  const char* variable = std::getenv("PATH");  // what posix_spawnp searches
  const std::string path = variable ? variable : "/usr/bin:/bin";
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    if (access((path.substr(at, end - at) + "/" + tool).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t count = read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

// The child's output, both streams, and its wait status.
std::pair<std::string, int> run(const std::vector<std::string>& command, const std::filesystem::path& folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw EnvironmentError("no pipe for " + command[0] + ": " + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  const std::string output = failed ? "" : read_all(ends[0]);
  close(ends[0]);
  if (failed) throw EnvironmentError(command[0] + " could not be started: " + std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {output, status};
}

}  // namespace

void require_tools() {
  static constexpr std::array<std::pair<const char*, const char*>, 4> kTools = {{{"cc", "gcc"}, {"ld", "binutils"}, {"objcopy", "binutils"}, {"ar", "binutils"}}};
  for (const auto& [tool, package] : kTools) {
    if (!is_on_path(tool)) throw EnvironmentError(std::string("an export needs ") + tool + ", which is not on the PATH: apt install " + package);
  }
}

void run_tool(const std::vector<std::string>& command, const std::filesystem::path& folder) {
  const auto [output, status] = run(command, folder);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  const std::string end = WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status)) : "returned " + std::to_string(WEXITSTATUS(status));
  throw DataError("`" + line + "` " + end + ":\n" + output);
}

}  // namespace kiln::generators::package
