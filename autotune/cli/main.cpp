// The `kiln` program. A worker's role first; then a verb.
#include <cstdio>
#include <cstdlib>

#include "autotune/cli/ended.h"
#include "autotune/cli/export/verify_role.h"
#include "autotune/cli/program.h"
#include "autotune/worker/roles.h"
#include "generators/operators/operators.h"

namespace {

using namespace kiln::autotune::cli;

int run(int argc, char** argv) {
  const char* db = std::getenv("KILN_DB");
  const Asked asked = understand(verbs(), {argv + 1, argv + argc}, db == nullptr ? "" : db);
  if (!asked.action) {
    std::fputs(asked.text.c_str(), stdout);
    return kDone;
  }
  return asked.action(asked.common);
}

}  // namespace

int main(int argc, char** argv) {
  kiln::generators::shipped_operators();  // registers them: the reader is this very program
  if (const std::optional<int> code = kiln::autotune::run_role(argc, argv, {{"verify", run_verify_role}})) return *code;
  return ended([&] { return run(argc, argv); });
}
