// atomic: steps of an update may run at once, each read-modify-write undivided; what vectorize and parallel need over a reduction loop.
//   atomic()                                            f += term → atomic f += term
//   legal when:  it stands on an update that is a sum, product, min, max, and/or of terms that may be regrouped.
//   numerics:    none by itself: parallel over a reduction loop, which it allows, adds terms in any order, and the bits may differ from call to call.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Atomic {
  static DirectiveSpec spec() {
    return {.name = "atomic",
            .sentence = "steps of an update may run at once, each read-modify-write undivided",
            .signatures = {{}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (subject.directive.update < 0) {
      if (subject.stage.updates() == 0) return fmt::format("{} has no updates; atomic() belongs to one", subject.stage.name);
      return fmt::format("atomic() belongs to an update; write {}.update(0).atomic()", subject.stage.name);
    }
    if (!subject.definition.facts->is_associative)
      return fmt::format("{} is no sum, product, min, max, and/or of terms that may be regrouped", subject.definition_name());
    subject.definition.is_atomic = true;
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.definition().atomic();
  }
};

}  // namespace kiln::directive
