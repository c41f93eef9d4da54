// gpu_threads: the iterations of loops become the threads of a GPU's block.
//   gpu_threads(loop, …)                                for nt < 16, mt < 16 → 256 threads, the innermost loop counting fastest
//   legal when:  each loop is serial still, no reduction loop, and its iterations are known while compiling; said once of a definition. Only the
//                CUDA back end runs it.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct GpuThreads {
  static DirectiveSpec spec() {
    return {.name = "gpu_threads",
            .sentence = "the iterations of loops become the threads of a GPU's block",
            .signatures = {{.parameters = {{"loop", ParameterKind::loop}}, .repeated = 1}},
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) { return mark_for_gpu(subject, LoopKind::gpu_thread); }
};

}  // namespace kiln::directive
