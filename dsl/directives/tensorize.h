// tensorize: the tensor cores compute a sum of products, a tile of elements at a time, so many terms in one step.
//   tensorize(loop, instruction)                        for ki < 64 → four wgmma of 16 terms each
//   tensorize(loop, instruction, plain)                 the same, and sums of 8-bit floats stay in the tensor cores
//   legal when:  the stage is summed inside a kernel of a GPU over one loop, split by a multiple of 64 of which this is the inner part; said once, of the
//                update. Only the CUDA back end runs it: the ring skeleton, which asks for stage_in and warps too.
//   numerics:    partial_sums: the tensor cores add the terms of a step in an order of their own, the same in every call. plain: approximates. Of products
//                of 8-bit floats the tensor cores cut off what is below 14 bits of the largest, in each step; without the word sums of 128 terms are added up
//                outside them. With it the error grows with the number of terms (see dsl/tolerance.h), and consumers may take tiles in turn.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"
#include "dsl/numerics.h"

namespace kiln::directive {

struct Tensorize {
  static DirectiveSpec spec() {
    return {.name = "tensorize",
            .sentence = "the tensor cores compute a sum of products, a tile of elements at a time",
            .signatures = {{{{"loop", ParameterKind::loop}, {"instruction", ParameterKind::instruction}}},
                           {{{"loop", ParameterKind::loop}, {"instruction", ParameterKind::instruction}, {"sums", ParameterKind::sums}}}},
            .is_for_gpu = true,
            .numerics = NumericsEffect::partial_sums,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    TensorShape& tensor = subject.stage.tensor;
    if (!tensor.step.empty()) return said_twice(subject);
    const std::string& name = subject.word(0);
    const int loop = subject.definition.find(name);
    if (loop < 0) return no_such_loop(subject, name);
    if (!subject.definition.loop(loop).is_reduction) return fmt::format("'{}' is no reduction loop; the tensor cores add up the terms of one", name);
    tensor.step = name;
    tensor.said_by = std::min(tensor.said_by, subject.index);
    tensor.keeps_sums = subject.count() > 2;
    if (tensor.keeps_sums)
      return claim_effect(subject, NumericsEffect::approximates, fmt::format("the tensor cores keep the sums over '{}' in 14 bits", name),
                          "without `plain` sums of 128 terms are added up outside them");
    return claim_effect(subject, NumericsEffect::partial_sums, fmt::format("the tensor cores add the terms of '{}' in sums of their own", name),
                        "leave the sum to threads");
  }
};

}  // namespace kiln::directive
