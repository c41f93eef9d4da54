// store_through: results go to memory by way of shared memory, in whole lines, copied while the next are computed.
//   store_through(memory, buffers)                      each consumer → `buffers` parts of its tile under way
//   legal when:  the stage is computed at root on a GPU and reads a tensorized sum; 1, 2 or 4 buffers; said once. Only the CUDA back end runs it: the ring
//                skeleton.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct StoreThrough {
  static DirectiveSpec spec() {
    return {.name = "store_through",
            .sentence = "results go to memory by way of shared memory, copied while the next are computed",
            .signatures = {{{{"memory", ParameterKind::staging}, {"buffers", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.store_buffers > 0) return said_twice(subject);
    const std::int64_t buffers = subject.number(1);
    if (buffers != 1 && buffers != 2 && buffers != 4) return fmt::format("1, 2 or 4 buffers take results to memory, found {}", buffers);
    kernel.store_buffers = buffers;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
