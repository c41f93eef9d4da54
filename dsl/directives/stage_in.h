// stage_in: what a tensorized sum reads waits in shared memory, copied there while earlier steps are computed.
//   stage_in(loop, memory, stages)                      for ko → copies of the next steps under way, `stages` of them in a ring
//   legal when:  the stage is tensorized and the loop the outer part of the split whose inner part is; 2 to 16 stages; said once, of the update; of sums
//                that share a kernel alike, for they share the ring. Only the CUDA back end runs it: the ring skeleton.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct StageIn {
  static DirectiveSpec spec() {
    return {.name = "stage_in",
            .sentence = "what a tensorized sum reads waits in shared memory, copied there while earlier steps are computed",
            .signatures = {{{{"loop", ParameterKind::loop}, {"memory", ParameterKind::staging}, {"stages", ParameterKind::number}}}},
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    TensorShape& tensor = subject.stage.tensor;
    if (tensor.stages > 0) return said_twice(subject);
    if (subject.definition.find(subject.word(0)) < 0) return no_such_loop(subject, subject.word(0));
    const std::int64_t stages = subject.number(2);
    if (stages < 2 || stages > 16) return fmt::format("a ring has 2 to 16 stages, found {}", stages);
    tensor.staged_at = subject.word(0);
    tensor.stages = stages;
    tensor.said_by = std::min(tensor.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
