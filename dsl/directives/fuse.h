// fuse: two neighbouring loops become one over all their pairs.
//   fuse(inner, outer, fused)                           for y { for x } → for xy
//   legal when:  `outer` is the loop just outside `inner`; both are serial still and of one sort, pure or reduction; the new name is free.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Fuse {
  static DirectiveSpec spec() {
    return {.name = "fuse",
            .sentence = "two neighbouring loops become one over all their pairs",
            .signatures = {{{{"inner", ParameterKind::loop}, {"outer", ParameterKind::loop}, {"fused", ParameterKind::new_loop}}}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return fuse_loops(subject, subject.word(0), subject.word(1), subject.word(2));
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.definition().fuse(calls.loop(0), calls.loop(1), calls.new_loop(2, 0));
  }
};

}  // namespace kiln::directive
