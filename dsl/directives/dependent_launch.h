// dependent_launch: the kernel may be launched while the one before it in the stream still runs, and waits for it before it touches memory.
//   dependent_launch()                                  a launch attribute; the kernel's text is the same
//   legal when:  the stage is computed at root on a GPU; said once. Only the CUDA back end runs it.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct DependentLaunch {
  static DirectiveSpec spec() {
    return {.name = "dependent_launch",
            .sentence = "the kernel may be launched while the one before it still runs",
            .signatures = {{}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .is_for_launch = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.is_dependent) return said_twice(subject);
    kernel.is_dependent = true;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
