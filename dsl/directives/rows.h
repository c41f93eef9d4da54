// rows: a kernel takes whole rows of a stage, each by threads of its own that keep the row in registers.
//   rows(per_block, threads)                            for m { for n … } → blocks of `per_block` rows, `threads` threads a row
//   legal when:  the stage is computed at root on a GPU; 1 to 15 rows a block, of 32 threads or a multiple; said once of a stage, whose loops are as the
//                algorithm has them. Only the CUDA back end runs it.
//   numerics:    none of its own: the sums that run over a row are split over its threads and combined in a fixed order.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Rows {
  static DirectiveSpec spec() {
    return {.name = "rows",
            .sentence = "a kernel takes whole rows of a stage, each by threads of its own that keep the row in registers",
            .signatures = {{{{"per_block", ParameterKind::number}, {"threads", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.rows_per_block > 0) return said_twice(subject);
    const std::int64_t rows = subject.number(0), threads = subject.number(1);
    // Barrier 0 is the whole block's, and a block has 16.
    if (rows < 1 || rows > 15) return fmt::format("a block takes 1 to 15 rows, found {}", rows);
    if (threads < 32 || threads % 32 != 0) return fmt::format("a row is shared by whole warps: 32 threads or a multiple, found {}", threads);
    kernel.rows_per_block = rows;
    kernel.threads_per_row = threads;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
