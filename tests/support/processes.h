// Looking at the processes of this machine through /proc.
#pragma once

#include <sys/types.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace kiln::tests {

struct Process {
  pid_t pid = 0, parent = 0;
  std::string name;  // as the process calls itself: 15 letters at most
};

// Nothing when it has ended, or ends while it is looked at.
inline std::optional<Process> process_at(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t open = line.find('('), close = line.rfind(')');  // a name may hold both
  if (open == std::string::npos || close == std::string::npos || close + 4 > line.size() || line[close + 2] == 'Z') return std::nullopt;
  return Process{std::atoi(line.c_str()), std::atoi(line.c_str() + close + 4), line.substr(open + 1, close - open - 1)};
}

inline std::vector<Process> processes() {
  std::vector<Process> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    if (auto process = process_at(entry.path())) found.push_back(std::move(*process));
  }
  return found;
}

inline std::vector<Process> children_of(pid_t parent) {
  std::vector<Process> children = processes();
  std::erase_if(children, [parent](const Process& process) { return process.parent != parent; });
  return children;
}

// Names of the processes that work in a folder: what a program started there has left behind.
inline std::vector<std::string> names_of_processes_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const Process& process : processes()) {
    std::error_code gone;
    const auto where = std::filesystem::read_symlink("/proc/" + std::to_string(process.pid) + "/cwd", gone);
    if (!gone && where == folder) names.push_back(process.name);
  }
  return names;
}

}  // namespace kiln::tests
