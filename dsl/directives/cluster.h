// cluster: the blocks of a cluster share each row, or the terms of each strip, and combine its sums through each other's shared memory, in a fixed order.
//   cluster(blocks)                                     a row → `blocks` blocks with a part each
//   legal when:  the stage has rows(1, …) or strips, computed at root on a GPU with clusters; 2, 4 or 8 blocks; said once. Only the CUDA back end runs it.
//   numerics:    none of its own; see rows.
// It pays for few rows only: on an H200 every kernel of 64 rows and more was slower with it.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Cluster {
  static DirectiveSpec spec() {
    return {.name = "cluster",
            .sentence = "the blocks of a cluster share each row and combine its sums in a fixed order",
            .signatures = {{{{"blocks", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.cluster > 0) return said_twice(subject);
    const std::int64_t blocks = subject.number(0);
    if (blocks != 2 && blocks != 4 && blocks != 8) return fmt::format("a cluster has 2, 4 or 8 blocks, found {}", blocks);
    kernel.cluster = blocks;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
