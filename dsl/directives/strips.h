// strips: a kernel of sums whose columns are neighbours in memory: threads side by side take columns, groups of them share the terms.
//   strips(lanes, groups)                                a block → `groups` groups of `lanes` threads, each thread with a vector of columns
//   legal when:  the stage is computed at root on a GPU and reads one sum of products computed at its own element; 8, 16 or 32 lanes, 2 to 64 groups, 64 to 1,024
//                threads; said once. Only the CUDA back end runs it.
//   numerics:    partial_sums: groups, and the blocks of a cluster, add terms of their own, which are combined in a fixed order.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Strips {
  static DirectiveSpec spec() {
    return {.name = "strips",
            .sentence = "a kernel of sums whose columns are neighbours in memory: groups of threads share the terms",
            .signatures = {{{{"lanes", ParameterKind::number}, {"groups", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.strip_lanes > 0) return said_twice(subject);
    const std::int64_t lanes = subject.number(0), groups = subject.number(1);
    if (lanes != 8 && lanes != 16 && lanes != 32) return fmt::format("8, 16 or 32 threads are side by side, found {}", lanes);
    if (groups < 2 || groups > 64) return fmt::format("2 to 64 groups share the terms, found {}", groups);
    if (lanes * groups < 64 || lanes * groups > 1024 || lanes * groups % 32 != 0)
      return fmt::format("{} groups of {} threads are {}; a block has whole warps, 64 to 1024 threads", groups, lanes, lanes * groups);
    kernel.strip_lanes = lanes;
    kernel.strip_groups = groups;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
