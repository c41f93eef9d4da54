// compute_root: the stage is computed whole before anything that reads it.
//   compute_root()                                      … f inlined … → for f; for consumer
//   legal when:  nothing else says where the stage is computed.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct ComputeRoot {
  static DirectiveSpec spec() {
    return {.name = "compute_root",
            .sentence = "the stage is computed whole before anything that reads it",
            .signatures = {{}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return set_compute_level(subject, Level::Kind::root);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().compute_root();
  }
};

}  // namespace kiln::directive
