// partition: whether a loop is cut into a start, a middle where no border is met, and an end.
//   partition(loop, policy)                             for x { … clamp(x) … } → for x at the start; for x without clamps; for x at the end
//   legal when:  the loop exists and is not said twice; the policy is Auto, which cuts where that helps, or Never. Halide fails on Always where a
//                loop has nothing to cut, which only lowering shows.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Partition {
  static DirectiveSpec spec() {
    return {.name = "partition",
            .sentence = "whether a loop is cut into a start, a middle without borders, and an end",
            .signatures = {{{{"loop", ParameterKind::loop}, {"policy", ParameterKind::policy}}}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    const int id = subject.definition.find(subject.word(0));
    if (id < 0) return no_such_loop(subject, subject.word(0));
    LoopVariable& loop = subject.definition.variables[static_cast<std::size_t>(id)];
    if (loop.has_policy) return fmt::format("it is said already how '{}' is partitioned; say it once", loop.name);
    if (subject.word(1) == "Always") return "a loop without borders cannot be partitioned, and Always would fail there; write Auto or Never";
    loop.has_policy = true;
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.definition().partition(calls.loop(0), calls.policy(1));
  }
};

}  // namespace kiln::directive
