// compute_at: the stage is computed anew for each iteration of a loop of a stage that reads it, directly or through others.
//   compute_at(stage, loop)                             for yo { for yi } → for yo { for f; for yi }
//   legal when:  the stage is no output; the loop encloses every place where the stage is read; no vectorized loop is outside it.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct ComputeAt {
  static DirectiveSpec spec() {
    return {.name = "compute_at",
            .sentence = "the stage is computed anew for each iteration of a loop of a stage that reads it",
            .signatures = {{{{"stage", ParameterKind::stage}, {"loop", ParameterKind::loop}}}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return set_compute_level(subject, Level::Kind::at);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().compute_at(calls.level(0));
  }
};

}  // namespace kiln::directive
