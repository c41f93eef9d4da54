#include "autotune/cli/read_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/error.h"

namespace kiln::autotune::cli {

std::string read_text(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw UsageError(fmt::format("cannot read '{}': it is a folder", path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) throw UsageError(fmt::format("cannot read '{}': {}", path, errno != 0 ? std::strerror(errno) : "it is empty or broken"));
  return text.str();
}

}  // namespace kiln::autotune::cli
