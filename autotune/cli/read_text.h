// Files that a user names on the command line.
#pragma once

#include <string>

namespace kiln::autotune::cli {

// All of it. Throws UsageError with the path and the system's words: that the file is not there is the user's mistake.
std::string read_text(const std::string& path);

}  // namespace kiln::autotune::cli
