// rfactor: an update's reduction is done in parts: the partial sums go to a stage of their own, and the update adds those up in order.
//   rfactor(loop, dimension[, loop, dimension, …])      for k: c += a(k)
//       → for u { for ki: c_intm[u] += a(u, ki) }; for ko: c += c_intm[ko]      by c.update(0).split(k, ko, ki, 256).rfactor(ko, u)
//   The loops that are named stay with the update; the others go with the new stage, which has one more dimension for each loop named. It is called
//   <stage>_intm, a second one of the same stage <stage>_intm#2, exists from this line on, and is placed like any other; until then it is computed
//   around each read.
//   legal when:  the update is a sum, product, min, max, and/or of terms that may be regrouped, and its loops are serial still; each loop that is named
//                is one of its reduction loops, and one more is left; the new names are free; no wrapper copies what only this stage reads; the
//                contract is not strict where floats are reduced.
//   numerics:    partial_sums, in an order that the schedule fixes.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Rfactor {
  static DirectiveSpec spec() {
    return {.name = "rfactor",
            .sentence = "an update's reduction is done in parts, whose sums are added up in order",
            .signatures = {{{{"loop", ParameterKind::loop}, {"dimension", ParameterKind::new_loop}}, 2}},
            .numerics = NumericsEffect::partial_sums,
            .rewrite = factor_reduction};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.factor();
  }
};

}  // namespace kiln::directive
