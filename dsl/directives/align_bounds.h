// align_bounds: the computed region of a dimension grows so that it starts at a multiple of `modulus` plus `remainder` and has a multiple of it.
//   align_bounds(dimension, modulus[, remainder])       for x in [3, 13) → for x in [0, 16)   by align_bounds(x, 8)
//   legal when:  modulus ≥ 1 and 0 ≤ remainder < modulus; on an output, remainder is 0 and modulus divides the problem's extent.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct AlignBounds {
  static DirectiveSpec spec() {
    return {.name = "align_bounds",
            .sentence = "the computed region of a dimension grows to multiples of `modulus`",
            .signatures = {{{{"dimension", ParameterKind::loop}, {"modulus", ParameterKind::number}}},
                           {{{"dimension", ParameterKind::loop}, {"modulus", ParameterKind::number}, {"remainder", ParameterKind::number}}}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    std::string why;
    const int dimension = find_dimension(subject, subject.word(0), why);
    if (dimension < 0) return why;
    const std::int64_t modulus = subject.number(1), remainder = subject.count() == 3 ? subject.number(2) : 0;
    if (modulus < 1) return fmt::format("a modulus is at least 1, found {}", modulus);
    if (remainder < 0 || remainder >= modulus) return fmt::format("a remainder is at least 0 and below {}, found {}", modulus, remainder);
    subject.stage.is_aligned[static_cast<std::size_t>(dimension)] = modulus > 1;
    if (!subject.stage.is_output()) return {};
    if (remainder != 0) return fmt::format("'{}' of the output {} starts at 0, so its remainder is 0, not {}", subject.word(0), subject.stage.name, remainder);
    const auto& extent = subject.stage.facts->extents[static_cast<std::size_t>(dimension)];
    if (extent && *extent % modulus != 0)
      return fmt::format("'{}' of the output {} has {} elements, which {} does not divide", subject.word(0), subject.stage.name, *extent, modulus);
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().align_bounds(calls.variable(0), calls.number(1), calls.count() == 3 ? calls.number(2) : 0);
  }
};

}  // namespace kiln::directive
