// compute_inline: the stage's expression is put in place of each read; the default of stages without updates.
//   compute_inline()                                    for f; for g = f(x) → for g = expression of f
//   legal when:  the stage has no updates and is no output; nothing else says where it is computed.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct ComputeInline {
  static DirectiveSpec spec() {
    return {.name = "compute_inline",
            .sentence = "the stage's expression is put in place of each read",
            .signatures = {{}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (const int updates = subject.stage.updates(); updates > 0)
      return fmt::format("{} has {} update{} and needs storage; use compute_root() or compute_at(stage, loop)", subject.stage.name, updates,
                         updates == 1 ? "" : "s");
    return set_compute_level(subject, Level::Kind::inlined);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().compute_inline();
  }
};

}  // namespace kiln::directive
