// fix: the length of a kernel's rows is a constant of its text; it then serves calls of that length alone.
//   fix(loop)                                           for n < extent → for n < 4096
//   legal when:  the stage is computed at root on a GPU; the loop is its row; said once. Only the CUDA back end runs it.
//   numerics:    none.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Fix {
  static DirectiveSpec spec() {
    return {.name = "fix",
            .sentence = "the length of a kernel's rows is a constant of its text",
            .signatures = {{{{"loop", ParameterKind::loop}}}},
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (!kernel.fixed.empty()) return said_twice(subject);
    if (subject.definition.find(subject.word(0)) < 0) return no_such_loop(subject, subject.word(0));
    kernel.fixed = subject.word(0);
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
