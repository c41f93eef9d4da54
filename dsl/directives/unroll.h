// unroll: the body of a loop is written out once an iteration.
//   unroll(loop)                                        for xi < 4 → four copies
//   unroll(loop, factor[, tail])                        for x → for x { `factor` copies }
//   legal when:  the loop is serial still and its iterations are known while compiling; at most kMostCopies copies over all unrolled loops.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Unroll {
  static DirectiveSpec spec() {
    return {.name = "unroll",
            .sentence = "the body of a loop is written out once an iteration",
            .signatures = {{{{"loop", ParameterKind::loop}}},
                           {{{"loop", ParameterKind::loop}, {"factor", ParameterKind::number}}},
                           {{{"loop", ParameterKind::loop}, {"factor", ParameterKind::number}, {"tail", ParameterKind::tail}}}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (subject.count() == 1) return mark_loop(subject, subject.word(0), LoopKind::unrolled);
    return split_and_mark(subject, subject.word(0), subject.number(1), subject.tail(2), LoopKind::unrolled);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    if (calls.count() == 1) {
      calls.definition().unroll(calls.loop(0));
    } else {
      calls.definition().unroll(calls.split_off_inner());
    }
  }
};

}  // namespace kiln::directive
