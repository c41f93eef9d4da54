#include "autotune/worker/roles.h"
#include "autotune/worker/serve.h"

namespace kiln::autotune {

std::optional<int> run_role(int argc, char** argv, const Roles& more) {
  Roles roles{{"probe", run_probe_role}, {"reader", run_reader_role}, {"compile", run_compile_role}, {"measure", run_measure_role}};
  roles.insert(more.begin(), more.end());
  return run_role_of(roles, argc, argv);
}

}  // namespace kiln::autotune
