// persistent: as many blocks as run at once, each of which goes on with the next tile until all are done.
//   persistent()                                        a launch argument; the kernel's text is the same
//   legal when:  the stage is computed at root on a GPU and reads a tensorized sum; said once. Only the CUDA back end runs it: the ring skeleton.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Persistent {
  static DirectiveSpec spec() {
    return {.name = "persistent",
            .sentence = "as many blocks as run at once, each of which goes on until all tiles are done",
            .signatures = {{}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .is_for_launch = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.is_persistent) return said_twice(subject);
    kernel.is_persistent = true;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
