// split: one loop becomes two, the inner one of `factor` iterations.
//   split(loop, outer, inner, factor[, tail])          for n → for no { for ni < factor }
//   legal when:  the loop is serial still; the new names are free (the loop's own may be used again); factor ≥ 1; the tail computes nothing twice
//                in an update and nothing extra in a reduction; on an output, the problem's extent fits ShiftInwards (≥ factor) or RoundUp (a
//                multiple of it).
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Split {
  static DirectiveSpec spec() {
    return {.name = "split",
            .sentence = "one loop becomes two, the inner one of `factor` iterations",
            .signatures = {{{{"loop", ParameterKind::loop}, {"outer", ParameterKind::new_loop}, {"inner", ParameterKind::new_loop}, {"factor", ParameterKind::number}}},
                           {{{"loop", ParameterKind::loop}, {"outer", ParameterKind::new_loop}, {"inner", ParameterKind::new_loop}, {"factor", ParameterKind::number}, {"tail", ParameterKind::tail}}}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return split_loop(subject, subject.word(0), subject.word(1), subject.word(2), subject.number(3), subject.tail(4));
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.definition().split(calls.loop(0), calls.new_loop(1, 0), calls.new_loop(2, 0), calls.number(3), calls.tail(4));
  }
};

}  // namespace kiln::directive
