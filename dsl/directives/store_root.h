// store_root: the stage's storage is allocated once, outside all loops, though it is computed further in.
//   store_root()                                        for yo { alloc f; for f; … } → alloc f; for yo { for f; … }
//   legal when:  compute_at places the stage inside a loop, and no parallel loop lies between the two.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct StoreRoot {
  static DirectiveSpec spec() {
    return {.name = "store_root",
            .sentence = "the stage's storage is allocated once, outside all loops",
            .signatures = {{}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return set_store_level(subject, Level::Kind::root);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().store_root();
  }
};

}  // namespace kiln::directive
