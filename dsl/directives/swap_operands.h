// swap_operands: the columns of a product take the tall side of the tensor cores' instruction, 64 at a time, and the rows its wide side, 8 to 256 of them.
//   swap_operands()                                     C = A · B → Cᵀ = Bᵀ · Aᵀ
//   legal when:  the stage is computed at root on a GPU and reads a tensorized sum; said once. Only the CUDA back end runs it: the ring skeleton.
//   numerics:    none.
// For few rows, which would leave most of the tall side without work.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct SwapOperands {
  static DirectiveSpec spec() {
    return {.name = "swap_operands",
            .sentence = "the columns of a product take the tall side of the tensor cores' instruction",
            .signatures = {{}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.swaps_operands) return said_twice(subject);
    kernel.swaps_operands = true;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
