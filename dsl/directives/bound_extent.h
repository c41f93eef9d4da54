// bound_extent: a dimension of the stage has `extent` elements, known while compiling; where it starts is left open.
//   bound_extent(dimension, extent)                     for x in [any) → for x in [any, any + extent)
//   legal when:  the stage is an output; extent is the problem's.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct BoundExtent {
  static DirectiveSpec spec() {
    return {.name = "bound_extent",
            .sentence = "a dimension has `extent` elements, known while compiling",
            .signatures = {{{{"dimension", ParameterKind::loop}, {"extent", ParameterKind::number}}}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return bound_dimension(subject, subject.word(0), 0, subject.number(1));
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().bound_extent(calls.variable(0), calls.number(1));
  }
};

}  // namespace kiln::directive
