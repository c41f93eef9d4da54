// evict: what L2 is told of an argument that is copied in tiles: whether to give it up before others.
//   evict(argument, eviction)                           a launch argument: first | normal
//   legal when:  the stage is computed at root on a GPU and reads a tensorized sum of the argument; said once of an argument, and alike of
//                the matrices of two products that share a kernel. Only the CUDA back end runs it: the ring skeleton.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Evict {
  static DirectiveSpec spec() {
    return {.name = "evict",
            .sentence = "whether L2 gives an argument that is copied in tiles up before others",
            .signatures = {{{{"argument", ParameterKind::word}, {"eviction", ParameterKind::eviction}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .is_for_launch = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    const std::string& argument = subject.word(0);
    if (std::string why = no_such_input(subject, argument); !why.empty()) return why;
    if (kernel.evictions.contains(argument)) return fmt::format("evict of {} is said already; say it once", argument);
    kernel.evictions[argument] = subject.word(1);
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
