// Files of generators/runtime and the licences, carried inside the program: an export needs no source tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::generators::package {

struct EmbeddedFile {
  std::string_view name;  // "set_plan.c"
  std::string_view text;
};

const std::vector<EmbeddedFile>& embedded_files();     // sorted by name
std::string embedded_file(std::string_view name);      // KILN_CHECKs that it exists

}  // namespace kiln::generators::package
