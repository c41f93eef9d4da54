// hoist_storage_root: the stage's memory is taken once, outside all loops, and reused, while what is kept in it between iterations stays the same.
//   hoist_storage_root()                                for yo { alloc f; for f; … } → alloc f; for yo { for f; … }
//   Unlike store_root, no later iteration relies on what an earlier one left.
//   legal when:  compute_at places the stage; no parallel or vectorized loop is outside the place where it is computed.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct HoistStorageRoot {
  static DirectiveSpec spec() {
    return {.name = "hoist_storage_root",
            .sentence = "the stage's memory is taken once, outside all loops and reused",
            .signatures = {{}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return set_hoist_level(subject, Level::Kind::root);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().hoist_storage_root();
  }
};

}  // namespace kiln::directive
