#include "autotune/cli/ended.h"

#include <cstdio>
#include <new>
#include <system_error>

#include "autotune/cli/verb.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

int fail(const char* text, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "kiln: %s\n", text);
  return code;
}

}  // namespace

int ended(const std::function<int()>& run) {
  try {
    return run();
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

}  // namespace kiln::autotune::cli
