// accesses: how many vectors of each operand a thread loads before it uses the first.
//   accesses(vectors)                                   for k { load; use } → for k by `vectors` { load, load, …; use, use, … }
//   legal when:  the stage has `dots` or `strips`; 1 to 16; said once. Only the CUDA back end runs it.
//   numerics:    none of its own; see dots.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Accesses {
  static DirectiveSpec spec() {
    return {.name = "accesses",
            .sentence = "how many vectors of each operand a thread loads before it uses the first",
            .signatures = {{{{"vectors", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.accesses > 0) return said_twice(subject);
    const std::int64_t vectors = subject.number(0);
    if (vectors < 1 || vectors > 16) return fmt::format("1 to 16 vectors can be under way, found {}", vectors);
    kernel.accesses = vectors;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
