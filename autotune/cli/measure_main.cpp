// The program in a bundle: `kiln measure` of the folder that it lies in, with nothing of compilers about it. A worker's role first, as in `kiln`.
#include <cstdio>
#include <filesystem>

#include "autotune/cli/ended.h"
#include "autotune/cli/program.h"
#include "autotune/cli/verbs/verbs.h"
#include "autotune/worker/roles.h"
#include "autotune/worker/serve.h"

namespace {

using namespace kiln::autotune;
using namespace kiln::autotune::cli;

int run(int argc, char** argv) {
  const std::vector<Verb> verbs = {measure_verb()};
  std::vector<std::string> arguments = {"measure", std::filesystem::canonical("/proc/self/exe").parent_path().string()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  Asked asked = understand(verbs, arguments, "");
  if (!asked.action) {
    std::fputs(asked.text.c_str(), stdout);
    return kDone;
  }
  asked.common.command = as_typed({argv + 1, argv + argc}, argv[0]);
  return asked.action(asked.common);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = run_role_of({{"probe", run_probe_role}, {"measure", run_gpu_measure_role}}, argc, argv)) return *code;
  return ended([&] { return run(argc, argv); });
}
