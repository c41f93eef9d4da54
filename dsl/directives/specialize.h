// specialize: calls that fulfil a condition run through loops of their own; what follows in the chain is said of those.
//   specialize(condition)                               for x → if (condition) { for x } else { for x }
//   The new loops start as those of the definition are at this line. `condition` compares arguments' extents, as in C.dim(0).extent() >= 64,
//   C.dim(0).extent() % 8 == 0; several joined by &&. Of several specializations the first whose condition holds is run.
//   legal when:  the condition names dimensions of buffer arguments; the definition has no specialization of this condition yet; the stage is not
//                inlined, and shares no loops.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/condition.h"
#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Specialize {
  static DirectiveSpec spec() {
    return {.name = "specialize",
            .sentence = "calls that fulfil a condition run through loops of their own",
            .signatures = {{{{"condition", ParameterKind::condition}}}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    const std::string& condition = subject.word(0);
    if (!subject.definition.condition.empty()) return "a specialization cannot be specialized again; write one condition, joined by &&";
    if (subject.stage.find(subject.definition.update, condition)) return fmt::format("{} is specialized so already; say it once", subject.definition_name());
    for (const Clause& clause : clauses_of(condition))
      if (std::string why = refuse_argument(*subject.nest.facts().algorithm, clause); !why.empty()) return why;
    Definition specialized = subject.definition;
    specialized.condition = condition;
    subject.stage.definitions.push_back(std::move(specialized));
    return {};
  }

  static std::string refuse_argument(const Algorithm& algorithm, const Clause& clause) {
    std::vector<std::string> buffers;
    for (const Argument& argument : algorithm.arguments) {
      if (argument.is_scalar) continue;
      buffers.push_back(argument.name);
      if (argument.name != clause.argument) continue;
      if (clause.dimension < argument.rank) return {};
      return fmt::format("{} has {} dimension{}, numbered from 0; there is no dim({})", argument.name, argument.rank, argument.rank == 1 ? "" : "s", clause.dimension);
    }
    return fmt::format("there is no buffer argument '{}'; there are {}", clause.argument, listed(buffers));
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.specialize(0);
  }
};

}  // namespace kiln::directive
