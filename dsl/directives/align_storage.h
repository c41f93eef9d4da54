// align_storage: each row of a dimension begins at a multiple of `alignment` elements.
//   align_storage(dimension, alignment)                 f[y][10] → f[y][16]   by align_storage(x, 16)
//   legal when:  alignment ≥ 1; the stage is no output, whose layout is the caller's.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct AlignStorage {
  static DirectiveSpec spec() {
    return {.name = "align_storage",
            .sentence = "each row of a dimension begins at a multiple of `alignment` elements",
            .signatures = {{{{"dimension", ParameterKind::loop}, {"alignment", ParameterKind::number}}}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (subject.stage.is_output()) return fmt::format("{} is an output: the caller lays out its memory", subject.stage.name);
    std::string why;
    if (find_dimension(subject, subject.word(0), why) < 0) return why;
    if (subject.number(1) < 1) return fmt::format("an alignment is at least 1 element, found {}", subject.number(1));
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().align_storage(calls.variable(0), calls.number(1));
  }
};

}  // namespace kiln::directive
