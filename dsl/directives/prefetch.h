// prefetch: inside loop `at`, what a later iteration of loop `from` will read of a buffer is asked into the cache.
//   prefetch(buffer, at, from[, offset[, bounds]])      for k { use A(k) } → for k { fetch A(k + offset); use A(k) }   by prefetch(A, k, k, offset)
//   The buffer is an input by its name (`A`), or a stage (`c`, `A.in()` where it is computed). `offset` iterations ahead, 1 unless said. `bounds` is
//   what happens beyond the buffer's end: GuardWithIf, the default, fetches nothing, Clamp what there is, NonFaulting whatever lies there.
//   legal when:  `from` is `at` or a loop outside it, `at` neither fused nor in a vectorized loop; the buffer is read inside `at` and exists outside it, a stage
//                thus is stored further out; the same is fetched at one loop once; offset ≥ 1.
//   numerics:    none.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Prefetch {
  static DirectiveSpec spec() {
    const std::vector<Parameter> least = {{"buffer", ParameterKind::buffer}, {"at", ParameterKind::loop}, {"from", ParameterKind::loop}};
    std::vector<Parameter> ahead = least;
    ahead.push_back({"offset", ParameterKind::number});
    std::vector<Parameter> bounded = ahead;
    bounded.push_back({"bounds", ParameterKind::fetch_bounds});
    return {.name = "prefetch",
            .sentence = "what a later iteration will read of a buffer is asked into the cache",
            .signatures = {{least}, {ahead}, {bounded}},
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    for (const std::size_t i : {1u, 2u})
      if (subject.definition.find(subject.word(i)) < 0) return no_such_loop(subject, subject.word(i));
    if (subject.count() > 3 && subject.number(3) < 1) return fmt::format("an offset is at least 1 iteration, found {}", subject.number(3));
    const int stage = subject.nest.find(subject.word(0));
    const int input = subject.nest.find(subject.word(0) + ".in()");
    subject.definition.fetches.push_back({stage < 0 ? input : stage, stage < 0, subject.word(1), subject.word(2), subject.index});
    return {};
  }

  template <typename Calls>
  static void apply(Calls& calls) {
    calls.prefetch(0, calls.loop(1), calls.loop(2), calls.count() > 3 ? calls.number(3) : 1, calls.fetch_bounds(4));
  }
};

}  // namespace kiln::directive
