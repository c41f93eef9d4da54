// fold_storage: a dimension of the stage's storage becomes a ring of `factor` elements, index modulo factor.
//   fold_storage(dimension, factor[, forward])          f[y] → f[y % factor]
//   `forward` says whether its consumer goes up through the dimension, true unless said.
//   legal when:  the stage is no output and stored further out than it is computed; the outermost loop between the two moves along the dimension, in
//                the direction said, and reads at most `factor` elements of it in an iteration, a number known while compiling; nothing else is
//                computed there than is read; the dimension is folded once.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct FoldStorage {
  static DirectiveSpec spec() {
    const std::vector<Parameter> least = {{"dimension", ParameterKind::loop}, {"factor", ParameterKind::number}};
    std::vector<Parameter> directed = least;
    directed.push_back({"forward", ParameterKind::truth});
    return {.name = "fold_storage",
            .sentence = "a dimension of the stage's storage becomes a ring of `factor` elements",
            .signatures = {{least}, {directed}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    if (subject.stage.is_output()) return fmt::format("{} is an output: the caller lays out its memory", subject.stage.name);
    std::string why;
    const int dimension = find_dimension(subject, subject.word(0), why);
    if (dimension < 0) return why;
    Fold& fold = subject.stage.folds[static_cast<std::size_t>(dimension)];
    if (fold.factor > 0) return fmt::format("'{}' is folded already; say it once", subject.word(0));
    if (subject.number(1) < 1) return fmt::format("a ring has at least 1 element, found {}", subject.number(1));
    fold = {subject.number(1), subject.count() < 3 || subject.word(2) == "true", subject.index};
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.function().fold_storage(calls.variable(0), calls.number(1), calls.count() < 3 || calls.is_true(2));
  }
};

}  // namespace kiln::directive
