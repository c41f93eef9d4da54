#include "generators/cuda/plan/loop_spread.h"

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::generators::cuda {
namespace {

struct Place {
  std::vector<int> of;
  std::int64_t stride = 1;
  bool is_whole = false;  // nothing was split off
};

bool is_masked(Tail tail) { return tail == Tail::guard_with_if || tail == Tail::predicate; }

}  // namespace

std::vector<LoopDigit> spread_of(const StageLoops& stage) {
  const Definition& definition = stage.definitions.front();
  std::vector<Place> places(definition.variables.size());
  for (std::size_t i = 0; i < definition.facts->loops.size(); ++i) places[i] = {{static_cast<int>(i)}, 1, true};
  for (const LoopRewrite& rewrite : definition.rewrites) {
    auto &old = places[static_cast<std::size_t>(rewrite.old)], &outer = places[static_cast<std::size_t>(rewrite.outer)],
         &inner = places[static_cast<std::size_t>(rewrite.inner)];
    if (rewrite.kind == LoopRewrite::Kind::fuse) {
      if (!inner.is_whole || !outer.is_whole)
        throw ScheduleError(fmt::format("'{}' of {} fuses a part of a split loop; a kernel fuses whole loops and then splits the result",
                                        definition.loop(rewrite.old).name, stage.name));
      old = {inner.of, 1, true};
      old.of.insert(old.of.end(), outer.of.begin(), outer.of.end());
      continue;
    }
    const auto& count = definition.loop(rewrite.old).constant;
    const bool is_exact = rewrite.factor == 1 || (count && *count % rewrite.factor == 0);
    if (!is_exact && !is_masked(rewrite.tail))
      throw ScheduleError(fmt::format("splitting '{}' of {} by {} may leave a rest, which a kernel masks: write GuardWithIf", definition.loop(rewrite.old).name,
                                      stage.name, rewrite.factor));
    inner = {old.of, old.stride, false};
    outer = {old.of, old.stride * rewrite.factor, false};
  }
  std::vector<LoopDigit> digits;
  for (const int id : definition.order) {
    const LoopVariable& loop = definition.loop(id);
    const Place& place = places[static_cast<std::size_t>(id)];
    digits.push_back({loop.name, loop.kind, place.of, place.stride, loop.constant});
  }
  return digits;
}

}  // namespace kiln::generators::cuda
