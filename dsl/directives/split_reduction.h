// split_reduction: the blocks of a cluster share the terms of each tile, and add their sums up through each other's shared memory, in a fixed order.
//   split_reduction(loop, parts, order)                 for ko → `parts` blocks with a part of it each
//   legal when:  the stage is tensorized and the loop the outer part of its split; 2 to 8 parts; said once, of the update; neither persistent nor pingpong.
//                Only the CUDA back end runs it: the ring skeleton.
//   numerics:    partial_sums: parts are added in the order of their terms.
// It pays where there are fewer tiles than half the SMs and many terms.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"
#include "dsl/numerics.h"

namespace kiln::directive {

struct SplitReduction {
  static DirectiveSpec spec() {
    return {.name = "split_reduction",
            .sentence = "the blocks of a cluster share the terms of each tile and add their sums up in a fixed order",
            .signatures = {{{{"loop", ParameterKind::loop}, {"parts", ParameterKind::number}, {"order", ParameterKind::combination}}}},
            .is_for_gpu = true,
            .numerics = NumericsEffect::partial_sums,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    TensorShape& tensor = subject.stage.tensor;
    if (tensor.parts > 0) return said_twice(subject);
    const std::string& name = subject.word(0);
    if (subject.definition.find(name) < 0) return no_such_loop(subject, name);
    const std::int64_t parts = subject.number(1);
    if (parts < 2 || parts > 8) return fmt::format("2 to 8 blocks share the terms, found {}", parts);
    tensor.split_loop = name;
    tensor.parts = parts;
    tensor.said_by = std::min(tensor.said_by, subject.index);
    return claim_effect(subject, NumericsEffect::partial_sums, fmt::format("it keeps {} partial sums of '{}'", parts, name), "leave its terms to one block");
  }
};

}  // namespace kiln::directive
