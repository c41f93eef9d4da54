// reorder_storage: which dimensions lie next to each other in memory, innermost first.
//   reorder_storage(dimension, dimension, …)            f[y][x] → f[x][y]   by reorder_storage(y, x)
//   legal when:  the names are dimensions of the stage, each once; the stage is no output, whose layout is the caller's.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct ReorderStorage {
  static DirectiveSpec spec() {
    return {.name = "reorder_storage",
            .sentence = "which dimensions lie next to each other in memory, innermost first",
            .signatures = {{{{"dimension", ParameterKind::loop}, {"dimension", ParameterKind::loop}}, 1}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (subject.stage.is_output()) return fmt::format("{} is an output: the caller lays out its memory", subject.stage.name);
    std::string why;
    for (std::size_t i = 0; i < subject.count(); ++i) {
      if (find_dimension(subject, subject.word(i), why) < 0) return why;
      for (std::size_t j = 0; j < i; ++j)
        if (subject.word(i) == subject.word(j)) return fmt::format("'{}' is named twice", subject.word(i));
    }
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().reorder_storage(calls.variables());
  }
};

}  // namespace kiln::directive
