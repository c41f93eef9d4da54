// raster: in which order tiles come: groups of them along one loop, so that those that run at once share what L2 holds.
//   raster(loop, tiles)                                 `tiles` along the loop, then one step along the other
//   legal when:  the stage is computed at root on a GPU and reads a tensorized sum; the loop is one of its two block loops; 1 to 64 tiles; said once. Only
//                the CUDA back end runs it: the ring skeleton. The number is a launch argument.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Raster {
  static DirectiveSpec spec() {
    return {.name = "raster",
            .sentence = "in which order tiles come: groups of them along one loop",
            .signatures = {{{{"loop", ParameterKind::loop}, {"tiles", ParameterKind::number}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .is_for_launch = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.raster_group > 0) return said_twice(subject);
    const int loop = subject.definition.find(subject.word(0));
    if (loop < 0) return no_such_loop(subject, subject.word(0));
    if (subject.definition.loop(loop).kind != LoopKind::gpu_block) return fmt::format("'{}' makes no blocks; name a loop of gpu_blocks", subject.word(0));
    if (subject.number(1) < 1 || subject.number(1) > 64) return fmt::format("a group has 1 to 64 tiles, found {}", subject.number(1));
    kernel.raster_loop = subject.word(0);
    kernel.raster_group = subject.number(1);
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
