// Who writes a run, and whether it still lives.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::db {

// A process: told apart from a later one with the same number by its start, its boot and its PID namespace.
struct Process {
  std::int64_t pid = 0;
  std::string started;  // "<boot id>/<pid namespace>/<start in clock ticks since boot>"
};
Process this_process();

enum class Liveness {
  alive,
  dead,       // another boot's processes are dead too: a store is never shared between machines
  elsewhere,  // another container's on this machine: its number means nothing here
};
Liveness liveness(const Process& process);

}  // namespace kiln::db
