// reorder: the named loops take each other's places, innermost first; the others stay.
//   reorder(loop, loop, …)                              for y { for x } → for x { for y }   by reorder(y, x)
//   legal when:  the loops exist, each once; reduction loops change their order among themselves only where the update is a sum, product,
//                min, max, and/or of terms that may be reordered, and the contract is not strict.
//   numerics:    reorders_reduction when reduction loops change their order.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Reorder {
  static DirectiveSpec spec() {
    return {.name = "reorder",
            .sentence = "the named loops take each other's places, innermost first",
            .signatures = {{{{"loop", ParameterKind::loop}, {"loop", ParameterKind::loop}}, 1}},
            .numerics = NumericsEffect::reorders_reduction,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    std::vector<std::string> loops;
    for (std::size_t i = 0; i < subject.count(); ++i) loops.push_back(subject.word(i));
    return reorder_loops(subject, loops);
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    auto loops = calls.loops();
    calls.definition().reorder(loops);
  }
};

}  // namespace kiln::directive
