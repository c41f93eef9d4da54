#include "db/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <vector>

namespace kiln::db {
namespace {

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}

// "pid:[4026531836]": a process number means something only inside one of these.
std::string pid_namespace() {
  std::array<char, 64> text{};
  const ssize_t length = readlink("/proc/self/ns/pid", text.data(), text.size());
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string();
}

// Field 22 of /proc/<pid>/stat: the start in ticks since boot. The name in field 2 may hold anything, so fields count from its last ')'.
// Empty for a process that is gone or a zombie.
std::string start_ticks(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return {};
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(line.substr(name_end + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  if (fields.size() < 20 || fields[0] == "Z") return {};
  return fields[19];
}

}  // namespace

Process this_process() {
  const std::int64_t pid = getpid();
  return {pid, fmt::format("{}/{}/{}", boot_id(), pid_namespace(), start_ticks(pid))};
}

Liveness liveness(const Process& process) {
  const std::size_t first = process.started.find('/'), last = process.started.rfind('/');
  if (first == std::string::npos || process.started.substr(0, first) != boot_id()) return Liveness::dead;
  if (process.started.substr(first + 1, last - first - 1) != pid_namespace()) return Liveness::elsewhere;
  const std::string ticks = start_ticks(process.pid);
  return !ticks.empty() && ticks == process.started.substr(last + 1) ? Liveness::alive : Liveness::dead;
}

}  // namespace kiln::db
