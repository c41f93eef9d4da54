// The `kiln` program. A worker's role first; then a verb; what goes wrong becomes words on stderr and an exit code here and nowhere else.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include "autotune/cli/export/verify_role.h"
#include "autotune/cli/program.h"
#include "autotune/worker/roles.h"
#include "dsl/error.h"
#include "generators/operators/operators.h"

namespace {

using namespace kiln;
using namespace kiln::autotune::cli;

int fail(const char* text, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "kiln: %s\n", text);
  return code;
}

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
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    return fail(error.what(), kUsage);
  } catch (const EnvironmentError& error) {
    return fail(error.what(), kEnvironment);
  } catch (const DataError& error) {
    return fail(error.what(), kData);
  } catch (const Error& error) {
    return fail(error.what(), kNegative);
  } catch (const std::system_error& error) {  // files and processes
    return fail(error.what(), kEnvironment);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", kEnvironment);
  }
}
