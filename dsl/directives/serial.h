// serial: a loop runs one iteration after the other, which is what loops do unless told otherwise.
//   serial(loop)                                        for x → for x
//   legal when:  the loop exists and is not parallel, vectorized or unrolled.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Serial {
  static DirectiveSpec spec() {
    return {.name = "serial",
            .sentence = "a loop runs one iteration after the other",
            .signatures = {{{{"loop", ParameterKind::loop}}}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return mark_loop(subject, subject.word(0), LoopKind::serial);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.definition().serial(calls.loop(0));
  }
};

}  // namespace kiln::directive
