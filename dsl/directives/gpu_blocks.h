// gpu_blocks: the iterations of loops become thread blocks of a GPU's grid.
//   gpu_blocks(loop, …)                                 for no, mo → one block each, the innermost loop counting fastest
//   legal when:  each loop is serial still and no reduction loop; said once of a definition. Only the CUDA back end runs it.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct GpuBlocks {
  static DirectiveSpec spec() {
    return {.name = "gpu_blocks",
            .sentence = "the iterations of loops become thread blocks of a GPU's grid",
            .signatures = {{.parameters = {{"loop", ParameterKind::loop}}, .repeated = 1}},
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) { return mark_for_gpu(subject, LoopKind::gpu_block); }
};

}  // namespace kiln::directive
