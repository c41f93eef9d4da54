// rename: a loop gets another name.
//   rename(loop, name)                                  for x → for name
//   legal when:  the loop exists and the name is free.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Rename {
  static DirectiveSpec spec() {
    return {.name = "rename",
            .sentence = "a loop gets another name",
            .signatures = {{{{"loop", ParameterKind::loop}, {"name", ParameterKind::new_loop}}}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return rename_loop(subject, subject.word(0), subject.word(1));
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.definition().rename(calls.loop(0), calls.new_loop(1, 0));
  }
};

}  // namespace kiln::directive
