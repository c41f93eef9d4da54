// hoist_storage: the stage's memory is taken once at a loop further out and reused, while what is kept in it between iterations stays the same.
//   hoist_storage(stage, loop)                          for yo { for xo { alloc f; for f; … } } → for yo { alloc f; for xo { for f; … } }
//   Unlike store_at, no later iteration relies on what an earlier one left.
//   legal when:  compute_at places the stage; the loop is the one that stores it or outside it; no parallel or vectorized loop lies between it and
//                the place where the stage is computed.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct HoistStorage {
  static DirectiveSpec spec() {
    return {.name = "hoist_storage",
            .sentence = "the stage's memory is taken once at a loop further out and reused",
            .signatures = {{{{"stage", ParameterKind::stage}, {"loop", ParameterKind::loop}}}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return set_hoist_level(subject, Level::Kind::at);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().hoist_storage(calls.level(0));
  }
};

}  // namespace kiln::directive
