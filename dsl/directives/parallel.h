// parallel: the iterations of a loop are shared out to threads.
//   parallel(loop)                                      for y → parallel for y
//   parallel(loop, factor[, tail])                      for y → parallel for y { for (factor iterations) }
//   legal when:  the loop is serial still; it stands in no vectorized loop; over a dependent reduction, only after atomic() on a sum, product,
//                min, max, and/or, and under a contract that fixes no order.
//   numerics:    any_order over a reduction loop, so that the bits may differ from call to call; none over a pure one.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Parallel {
  static DirectiveSpec spec() {
    return {.name = "parallel",
            .sentence = "the iterations of a loop are shared out to threads",
            .signatures = {{{{"loop", ParameterKind::loop}}},
                           {{{"loop", ParameterKind::loop}, {"factor", ParameterKind::number}}},
                           {{{"loop", ParameterKind::loop}, {"factor", ParameterKind::number}, {"tail", ParameterKind::tail}}}},
            .numerics = NumericsEffect::any_order,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (subject.count() == 1) return mark_loop(subject, subject.word(0), LoopKind::parallel);
    return split_and_mark(subject, subject.word(0), subject.number(1), subject.tail(2), LoopKind::parallel);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    if (calls.count() == 1) {
      calls.definition().parallel(calls.loop(0));
    } else {
      calls.split_off_inner();
      calls.definition().parallel(calls.loop(0));
    }
  }
};

}  // namespace kiln::directive
