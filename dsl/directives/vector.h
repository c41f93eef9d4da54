// vector: how many neighbouring elements of a row a thread loads and stores at once.
//   vector(elements)                                    for n → for n / elements { one access of `elements` }
//   legal when:  the stage has `rows`, `dots` or `strips`; a power of two from 1 to 16; the row is a multiple of it. Only the CUDA back end runs it.
//   numerics:    none of its own; see rows.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Vector {
  static DirectiveSpec spec() {
    return {.name = "vector",
            .sentence = "how many neighbouring elements of a row a thread loads and stores at once",
            .signatures = {{{{"elements", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.vector > 0) return said_twice(subject);
    const std::int64_t elements = subject.number(0);
    if (elements < 1 || elements > 16 || (elements & (elements - 1)) != 0)
      return fmt::format("one access takes 1, 2, 4, 8 or 16 elements, found {}", elements);
    kernel.vector = elements;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
