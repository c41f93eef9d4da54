// blocks_per_sm: so many blocks must fit a multiprocessor at once, which limits the registers of a thread.
//   blocks_per_sm(blocks)                               __launch_bounds__(threads, blocks)
//   legal when:  the stage is computed at root on a GPU; at least 2, since demanding one lets the compiler take more registers than without; said once.
//                Only the CUDA back end runs it.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct BlocksPerSm {
  static DirectiveSpec spec() {
    return {.name = "blocks_per_sm",
            .sentence = "so many blocks must fit a multiprocessor at once, which limits the registers of a thread",
            .signatures = {{{{"blocks", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.blocks_per_sm > 0) return said_twice(subject);
    const std::int64_t blocks = subject.number(0);
    if (blocks < 2 || blocks > 32) return fmt::format("2 to 32 blocks can be asked for, found {}; without the directive the compiler is free", blocks);
    kernel.blocks_per_sm = blocks;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
