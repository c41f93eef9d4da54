// dots: a kernel of dot products whose terms are neighbours in memory: teams of warps take columns, lanes side by side along the terms.
//   dots(columns, warps, teams)                          a block → `teams` teams of `warps` warps, each with `columns` columns of every row
//   legal when:  the stage is computed at root on a GPU and reads one sum of products computed at its own element; 1, 2 or 4 columns, 1 to 8 warps and teams,
//                at most 1,024 threads; said once. Only the CUDA back end runs it.
//   numerics:    partial_sums: lanes and warps add terms of their own, which are combined in a fixed order.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Dots {
  static DirectiveSpec spec() {
    return {.name = "dots",
            .sentence = "a kernel of dot products whose terms are neighbours in memory: teams of warps take columns",
            .signatures = {{{{"columns", ParameterKind::number}, {"warps", ParameterKind::number}, {"teams", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.dot_columns > 0) return said_twice(subject);
    const std::int64_t columns = subject.number(0), warps = subject.number(1), teams = subject.number(2);
    if (columns != 1 && columns != 2 && columns != 4) return fmt::format("a team takes 1, 2 or 4 columns, found {}", columns);
    if (warps < 1 || warps > 8 || teams < 1 || teams > 8) return fmt::format("1 to 8 warps a team and 1 to 8 teams a block, found {} and {}", warps, teams);
    if (warps * teams > 32) return fmt::format("{} teams of {} warps are {} threads; a block has 1024 at most", teams, warps, warps * teams * 32);
    kernel.dot_columns = columns;
    kernel.dot_warps = warps;
    kernel.dot_teams = teams;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
