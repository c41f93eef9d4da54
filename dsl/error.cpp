#include "dsl/error.h"

#include <cstdio>
#include <cstdlib>

namespace kiln {

void check_failed(const char* file, int line, const std::string& what) {
  std::fprintf(stderr, "kiln: a bug of ours at %s:%d: %s\n", file, line, what.c_str());
  std::abort();
}

}  // namespace kiln
