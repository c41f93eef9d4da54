// compute_with: the definition shares its loops, from the outermost to the one that is named, with another stage's definition.
//   compute_with(definition, loop[, align])             for y { for x: f }; for y { for x: g } → for y { for x: f; for x: g }   by g.compute_with(f, y)
//   Where the two run over different ranges, each runs over its own; `align` moves the ranges together first: AlignStart, AlignEnd, or not at all
//   (NoAlign and Auto).
//   legal when:  both stages are computed at the same place and stored at the same, neither inlined or specialized; neither needs the other; the shared
//                loops have the same names, order, kinds and splits, and are serial or parallel; updates go along in order; nothing is placed at the
//                shared loops of the definition that goes along.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct ComputeWith {
  static DirectiveSpec spec() {
    const std::vector<Parameter> least = {{"definition", ParameterKind::definition}, {"loop", ParameterKind::loop}};
    std::vector<Parameter> aligned = least;
    aligned.push_back({"align", ParameterKind::align});
    return {.name = "compute_with",
            .sentence = "the definition shares its outer loops with another stage's definition",
            .signatures = {{least}, {aligned}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    Definition& definition = subject.definition;
    if (!definition.condition.empty()) return "a specialization shares no loops; leave out one of the two";
    if (definition.companion.stage >= 0) return fmt::format("{} goes along with another definition already; say it once", subject.definition_name());
    const DefinitionName partner = split_definition_name(subject.word(0));
    const int stage = subject.nest.find(partner.stage);
    const StageLoops& other = subject.nest.stage(stage);
    if (&other == &subject.stage) return fmt::format("{} cannot share loops with itself; name another stage", subject.stage.name);
    if (partner.update >= other.updates()) return no_such_update(other);
    if (definition.find(subject.word(1)) < 0) return no_such_loop(subject, subject.word(1));
    definition.companion = {stage, partner.update, subject.word(1), subject.index};
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.definition().compute_with(calls.definition_of(0), calls.loop(1), calls.align(2));
  }
};

}  // namespace kiln::directive
