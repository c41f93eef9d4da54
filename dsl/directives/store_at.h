// store_at: the stage's storage is allocated at a loop outside the one it is computed at, so that later iterations find what earlier ones left.
//   store_at(stage, loop)                               for yo { for xo { alloc f; for f; … } } → for yo { alloc f; for xo { for f; … } }
//   legal when:  compute_at places the stage at that loop or further in, and no parallel or vectorized loop lies between the two.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct StoreAt {
  static DirectiveSpec spec() {
    return {.name = "store_at",
            .sentence = "the stage's storage is allocated at a loop outside the one it is computed at",
            .signatures = {{{{"stage", ParameterKind::stage}, {"loop", ParameterKind::loop}}}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return set_store_level(subject, Level::Kind::at);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().store_at(calls.level(0));
  }
};

}  // namespace kiln::directive
