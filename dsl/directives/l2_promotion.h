// l2_promotion: how many bytes L2 fetches at once of an argument that is copied in tiles.
//   l2_promotion(argument, bytes)                       a launch argument, part of the tensor map
//   legal when:  the stage is computed at root on a GPU and reads a tensorized sum of the argument; 64, 128 or 256 bytes, 256 without the directive; said
//                once of an argument, and alike of the matrices of two products that share a kernel. Only the CUDA back end runs it: the ring skeleton.
//   numerics:    none.
// On an H200 128 bytes instead of 256 took 0.94 to 0.98 of the time where there are at most 128 rows, and changed nothing above.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct L2Promotion {
  static DirectiveSpec spec() {
    return {.name = "l2_promotion",
            .sentence = "how many bytes L2 fetches at once of an argument that is copied in tiles",
            .signatures = {{{{"argument", ParameterKind::word}, {"bytes", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .is_for_launch = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    const std::string& argument = subject.word(0);
    if (std::string why = no_such_input(subject, argument); !why.empty()) return why;
    if (kernel.l2_promotions.contains(argument)) return fmt::format("l2_promotion of {} is said already; say it once", argument);
    const std::int64_t bytes = subject.number(1);
    if (bytes != 64 && bytes != 128 && bytes != 256) return fmt::format("L2 fetches 64, 128 or 256 bytes at once, found {}", bytes);
    kernel.l2_promotions[argument] = bytes;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
