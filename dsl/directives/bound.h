// bound: a dimension of the stage starts at `min` and has `extent` elements, known while compiling.
//   bound(dimension, min, extent)                       for x in [any) → for x in [min, min + extent)
//   legal when:  the stage is an output; min is 0 and extent is the problem's.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Bound {
  static DirectiveSpec spec() {
    return {.name = "bound",
            .sentence = "a dimension starts at `min` and has `extent` elements, known while compiling",
            .signatures = {{{{"dimension", ParameterKind::loop}, {"min", ParameterKind::number}, {"extent", ParameterKind::number}}}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return bound_dimension(subject, subject.word(0), subject.number(1), subject.number(2));
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().bound(calls.variable(0), calls.number(1), calls.number(2));
  }
};

}  // namespace kiln::directive
