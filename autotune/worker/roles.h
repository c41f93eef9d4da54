// The program as a worker: `kiln --role=compile` and its like, started by the supervisor with a socket on fd 3.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "autotune/process/channel.h"

namespace kiln::autotune {

using Role = int (*)(Channel& channel);  // returns the process's exit code

using Roles = std::map<std::string_view, Role>;

// What main calls first. Nothing when argv[1] is not `--role=…`; otherwise the role has run to its end and this is the exit code.
// Roles: probe, reader, compile, measure, and those that the program brings itself.
std::optional<int> run_role(int argc, char** argv, const Roles& more = {});

// The same of a program that has these roles and no others.
std::optional<int> run_role_of(const Roles& roles, int argc, char** argv);

}  // namespace kiln::autotune
