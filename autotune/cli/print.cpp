#include "autotune/cli/print.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "dsl/error.h"

namespace kiln::autotune::cli {

void print_result(const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!is_written) throw EnvironmentError(std::string("cannot write the result to stdout: ") + std::strerror(errno));
}

void print_note(const std::string& line) { std::fprintf(stderr, "kiln: %s\n", line.c_str()); }

}  // namespace kiln::autotune::cli
