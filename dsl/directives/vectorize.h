// vectorize: the iterations of a loop become the lanes of vectors.
//   vectorize(loop)                                     for xi < 8 → one vector of 8
//   vectorize(loop, factor[, tail])                     for x → for x { one vector of `factor` }
//   legal when:  the loop is serial still and its iterations are known while compiling, 2 to kMostLanes over all vectorized loops of the
//                definition; no other part of its dimension is vectorized; over a dependent reduction, only after atomic() on a sum, product,
//                min, max, and/or, under any contract but strict.
//   numerics:    partial_sums over a reduction loop; none over a pure one.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Vectorize {
  static DirectiveSpec spec() {
    return {.name = "vectorize",
            .sentence = "the iterations of a loop become the lanes of vectors",
            .signatures = {{{{"loop", ParameterKind::loop}}},
                           {{{"loop", ParameterKind::loop}, {"factor", ParameterKind::number}}},
                           {{{"loop", ParameterKind::loop}, {"factor", ParameterKind::number}, {"tail", ParameterKind::tail}}}},
            .numerics = NumericsEffect::partial_sums,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (subject.count() == 1) return mark_loop(subject, subject.word(0), LoopKind::vectorized);
    return split_and_mark(subject, subject.word(0), subject.number(1), subject.tail(2), LoopKind::vectorized);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    if (calls.count() == 1) {
      calls.definition().vectorize(calls.loop(0));
    } else {
      calls.definition().vectorize(calls.split_off_inner());
    }
  }
};

}  // namespace kiln::directive
