// warps: which warps of a block do what: one warpgroup copies, the others multiply, sharing a tile or taking tiles in turn.
//   warps(producers, consumers, roles)                  a block → 128 threads that copy and 128 for each consumer
//   legal when:  the stage is computed at root on a GPU and reads a tensorized sum; 1 producer, 1 to 3 consumers; pingpong has 2; said once. Only the CUDA
//                back end runs it: the ring skeleton.
//   numerics:    none.
// cooperative: each consumer has a part of the tile's rows. pingpong: one stores a tile while the other multiplies the next.
#pragma once

#include <fmt/format.h>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln::directive {

struct Warps {
  static DirectiveSpec spec() {
    return {.name = "warps",
            .sentence = "which warps of a block copy, which multiply, and how these share tiles",
            .signatures = {{{{"producers", ParameterKind::number}, {"consumers", ParameterKind::number}, {"roles", ParameterKind::roles}}}},
            .is_pure_only = true,
            .is_for_gpu = true,
            .rewrite = rewrite};
  }

  static std::string rewrite(Subject& subject) {
    KernelShape& kernel = subject.stage.kernel;
    if (kernel.consumers > 0) return said_twice(subject);
    const std::int64_t producers = subject.number(0), consumers = subject.number(1);
    if (producers != 1) return fmt::format("one warpgroup copies for all, found {}", producers);
    if (consumers < 1 || consumers > 3) return fmt::format("1 to 3 warpgroups multiply, found {}", consumers);
    const bool is_pingpong = subject.word(2) == "pingpong";
    if (is_pingpong && consumers != 2) return fmt::format("two consumers take tiles in turn, found {}", consumers);
    kernel.consumers = consumers;
    kernel.is_pingpong = is_pingpong;
    kernel.said_by = std::min(kernel.said_by, subject.index);
    return {};
  }
};

}  // namespace kiln::directive
