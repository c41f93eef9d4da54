// cache: which hints a kernel's loads and stores of whole arrays give the caches.
//   cache(loads, stores)                                loads plain | no_l1 | evict_first, stores plain | streaming | evict_first
//   legal when:  the stage is computed at root on a GPU; said once. Only the CUDA back end runs it.
//   numerics:    none.
// Which pair is best turns with the size: on an H200 two inputs and an output of 75 MB together were 5 % faster with no_l1, of 534 MB 5 % slower.
#pragma once

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Cache {
  static DirectiveSpec spec() {
    return {.name = "cache",
            .sentence = "which hints a kernel's loads and stores of whole arrays give the caches",
            .signatures = {{{{"loads", ParameterKind::load_hint}, {"stores", ParameterKind::store_hint}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (!kernel.loads.empty()) return said_twice(subject);
    kernel.loads = subject.word(0);
    kernel.stores = subject.word(1);
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
