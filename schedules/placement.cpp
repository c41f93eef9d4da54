#include "schedules/placement.h"

#include <algorithm>

#include "schedules/stage_graph.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) { return std::count(words.begin(), words.end(), word) > 0; }

void schedule_pure(Schedule& schedule, const Stage& stage, const LoopStyle& style, bool in_parallel) {
  if (stage.loops.empty()) return;
  Chain chain(schedule, stage.name);
  if (style.lanes > 1) {
    if (contains(style.unrolled, stage.loops[0])) {
      chain.add("vectorize", stage.loops[0], style.lanes);
    } else {
      chain.add("vectorize", stage.loops[0], style.lanes, style.tail);
    }
  }
  for (const std::string& loop : style.unrolled) chain.add("unroll", loop);
  if (in_parallel && stage.loops.size() >= 2) chain.add("parallel", stage.loops.back());
}

void schedule_update(Schedule& schedule, const Stage& stage, int number, const LoopStyle& style, bool in_parallel) {
  const Update& update = stage.updates[static_cast<std::size_t>(number)];
  const std::vector<std::string> pure = update_loops(stage, update);
  const bool along_first = !pure.empty() && pure[0] == stage.loops[0];
  Chain chain(schedule, stage.name, number);
  std::vector<std::string> spare = pure;  // loops left for threads, innermost first
  if (style.reduce_vectors > 0 && style.lanes > 1 && !update.reduction.empty() && is_associative(stage, update)) {
    const std::string& variable = update.reduction[0].name;
    const std::string outer = new_loop(stage, "ro"), inner = new_loop(stage, "ri");
    chain.add("split", variable, outer, inner, style.lanes * style.reduce_vectors, "GuardWithIf").add("atomic").add("vectorize", inner);
  } else if (along_first) {
    std::vector<DirectiveArgument> order;
    if (style.loop_inside) {
      order.insert(order.end(), pure.begin(), pure.begin() + 1);
      for (const std::string& loop : style.unrolled) {
        if (loop != pure[0] && contains(pure, loop)) order.push_back(loop);
      }
      for (const ReductionVariable& variable : update.reduction) order.push_back(variable.name);
      for (const std::string& loop : pure) {
        if (loop != pure[0] && !contains(style.unrolled, loop)) order.push_back(loop);
      }
      if (order.size() > 1) schedule.directives.push_back({stage.name, number, "reorder", order});
    }
    const bool fixed = contains(style.unrolled, pure[0]);
    if (style.lanes > 1 && fixed) chain.add("vectorize", pure[0], style.lanes);
    if (style.lanes > 1 && !fixed) chain.add("vectorize", pure[0], style.lanes, "GuardWithIf");
    if (style.loop_inside) {
      for (const std::string& loop : style.unrolled) {
        if (contains(pure, loop)) chain.add("unroll", loop);
      }
    }
    spare.erase(spare.begin());
  }
  if (in_parallel && !spare.empty()) chain.add("parallel", spare.back());
}

}  // namespace

void schedule_definitions(Schedule& schedule, const Stage& stage, const LoopStyle& style, bool in_parallel) {
  schedule_pure(schedule, stage, style, in_parallel);
  for (int u = 0; u < static_cast<int>(stage.updates.size()); ++u) schedule_update(schedule, stage, u, style, in_parallel);
}

}  // namespace kiln::schedules
