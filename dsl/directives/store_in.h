// store_in: the kind of memory that holds the stage.
//   store_in(memory)                                    alloc f → alloc f on the heap or the stack
//   legal when:  the stage is no output, whose memory is the caller's.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct StoreIn {
  static DirectiveSpec spec() {
    return {.name = "store_in",
            .sentence = "the kind of memory that holds the stage",
            .signatures = {{{{"memory", ParameterKind::memory}}}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (subject.stage.is_output()) return fmt::format("{} is an output: the caller chooses its memory", subject.stage.name);
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().store_in(calls.memory(0));
  }
};

}  // namespace kiln::directive
