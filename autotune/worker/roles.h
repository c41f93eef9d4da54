// The program as a worker: `kiln --role=compile` and its like, started by the supervisor with a socket on fd 3.
#pragma once

#include <optional>

namespace kiln::autotune {

// What main calls first. Nothing when argv[1] is not `--role=…`; otherwise the role has run to its end and this is the exit code.
// Roles: probe, reader, compile, measure.
std::optional<int> run_role(int argc, char** argv);

}  // namespace kiln::autotune
