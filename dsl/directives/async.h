// async: the stage is produced by a thread of its own while its consumer runs.
//   async()                                             for y { for f; use f } → thread: for y { for f }; for y { wait; use f }
//   legal when:  never on a CPU: it needs tasks that wait for each other, and the runtime inside a package has a pool of threads for parallel loops
//                only: no semaphores, no tasks.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Async {
  static DirectiveSpec spec() {
    return {.name = "async",
            .sentence = "the stage is produced by a thread of its own while its consumer runs",
            .signatures = {{}},
            .is_pure_only = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    return fmt::format("the runtime of a package has threads for parallel loops, but no tasks that wait for each other, so {} cannot run beside what "
                       "reads it; make a loop of it or of its consumer parallel",
                       subject.stage.name);
  }
};

}  // namespace kiln::directive
