// The C compiler and binutils that an export runs. Same tools, same inputs, same folder layout: same bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::generators::package {

// Throws EnvironmentError naming the missing tool and its apt package.
void require_tools();

// Runs a tool in `folder`; returns when it has ended well. Throws DataError with its name and its own words otherwise.
void run_tool(const std::vector<std::string>& command, const std::filesystem::path& folder);

}  // namespace kiln::generators::package
