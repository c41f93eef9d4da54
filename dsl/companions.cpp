#include "dsl/companions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/directive.h"

namespace kiln {
namespace {

// One compute_with: `child` goes along with `parent`.
struct Pair {
  int child_stage = 0, parent_stage = 0;
  const Definition* child = nullptr;
  const Definition* parent = nullptr;
};

// How a loop came about, as text: equal for equal splits and fusions of equally named loops.
std::string origin(const Definition& definition, int id) {
  for (const LoopRewrite& rewrite : definition.rewrites) {
    if (rewrite.kind == LoopRewrite::Kind::fuse && rewrite.old == id)
      return fmt::format("({}*{})", origin(definition, rewrite.outer), origin(definition, rewrite.inner));
    if (rewrite.kind == LoopRewrite::Kind::split && (rewrite.outer == id || rewrite.inner == id))
      return fmt::format("({}{}{},{})", origin(definition, rewrite.old), rewrite.outer == id ? "/" : "%", rewrite.factor,
                         tail_strategies()[static_cast<std::size_t>(rewrite.tail)]);
  }
  return definition.facts->loops[static_cast<std::size_t>(id)].is_reduction ? "reduction" : "pure";
}

class Finder {
 public:
  explicit Finder(const LoopNest& nest) : nest_(nest) {
    for (int s = 0; s < static_cast<int>(nest.stages().size()); ++s)
      for (const Definition& definition : nest.stage(s).definitions)
        if (const Companion& c = definition.companion; c.stage >= 0) pairs_.push_back({s, c.stage, &definition, nest.stage(c.stage).find(c.update, {})});
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) { return a.child->companion.directive < b.child->companion.directive; });
  }

  std::optional<Illegal> find() {
    if (pairs_.empty()) return std::nullopt;
    for (const Pair& pair : pairs_) {
      const std::size_t said = pair.child->companion.directive;
      for (const auto check : {&Finder::refuse_places, &Finder::refuse_dependence, &Finder::refuse_loops, &Finder::refuse_order})
        if (std::string why = (this->*check)(pair); !why.empty()) {
          offer(said, std::move(why));
          break;
        }
    }
    if (!found_) check_circles();
    if (!found_) check_placements();
    return std::move(found_);
  }

 private:
  void offer(std::size_t directive, std::string message) {
    if (!found_ || directive < found_->directive) found_ = Illegal{directive, std::move(message)};
  }

  std::string place_of(const StageLoops& stage) const {
    if (stage.compute.kind == Level::Kind::inlined) return stage.is_inlined() ? "inline" : "around each read";
    return place_of(stage.compute);
  }

  std::string place_of(const Level& level) const {
    return level.kind == Level::Kind::root ? "at root" : fmt::format("at loop '{}' of {}", level.loop, nest_.stage(level.stage).name);
  }

  static bool is_same(const Level& a, const Level& b) { return a.kind == b.kind && a.stage == b.stage && a.loop == b.loop; }

  std::string refuse_places(const Pair& pair) const {
    const StageLoops &child = nest_.stage(pair.child_stage), &parent = nest_.stage(pair.parent_stage);
    for (const StageLoops* stage : {&child, &parent}) {
      if (stage->compute.kind == Level::Kind::inlined)
        return fmt::format("{} is computed {}, so it has no loops of its own to share; give both the same compute_root() or compute_at(stage, loop)",
                           stage->name, place_of(*stage));
      for (const Definition& definition : stage->definitions)
        if (!definition.condition.empty())
          return fmt::format("{} is specialized, and shared loops are the same in every call; leave out one of the two", stage->name);
    }
    if (!is_same(child.compute, parent.compute))
      return fmt::format("{} is computed {} and {} {}; loops are shared at one place only", child.name, place_of(child), parent.name, place_of(parent));
    const Level &kept = child.slides() ? child.store : child.compute, &parents = parent.slides() ? parent.store : parent.compute;
    if (!is_same(kept, parents))
      return fmt::format("{} is stored {} and {} {}; stages that share loops are stored at one place", child.name, place_of(kept), parent.name, place_of(parents));
    return {};
  }

  // From the shared loop outwards, loop by loop.
  std::string refuse_loops(const Pair& pair) const {
    const Definition &child = *pair.child, &parent = *pair.parent;
    const std::string child_name = name_of(nest_.stage(pair.child_stage), child), parent_name = name_of(nest_.stage(pair.parent_stage), parent);
    const std::string& loop = child.companion.loop;
    const int a = child.find(loop), b = parent.find(loop);
    if (a < 0 || b < 0) return fmt::format("{} has no loop '{}', which both must have when everything is said", a < 0 ? child_name : parent_name, loop);
    const auto inner_a = static_cast<std::size_t>(child.place(a)), inner_b = static_cast<std::size_t>(parent.place(b));
    if (child.order.size() - inner_a != parent.order.size() - inner_b)
      return fmt::format("from '{}' outwards {} has {} loops and {} {}; they must be the same", loop, child_name, child.order.size() - inner_a, parent_name,
                         parent.order.size() - inner_b);
    for (std::size_t i = 0; inner_a + i < child.order.size(); ++i) {
      const int id_a = child.order[inner_a + i], id_b = parent.order[inner_b + i];
      const LoopVariable &mine = child.loop(id_a), &theirs = parent.loop(id_b);
      if (mine.name != theirs.name)
        return fmt::format("'{}' of {} would share its iterations with '{}' of {}; give the loops the same names in the same order", mine.name, child_name,
                           theirs.name, parent_name);
      if (mine.kind != theirs.kind)
        return fmt::format("loop '{}' is {} in {} and {} in {}; say the same of both", mine.name, print(mine.kind), child_name, print(theirs.kind), parent_name);
      if (mine.kind == LoopKind::vectorized || mine.kind == LoopKind::unrolled)
        return fmt::format("loop '{}' is {}, and only serial and parallel loops are shared; share a loop outside it", mine.name, print(mine.kind));
      if (mine.is_ordered != theirs.is_ordered || origin(child, id_a) != origin(parent, id_b))
        return fmt::format("loop '{}' of {} comes from other splits or another sort of loop than that of {}; split both alike", mine.name, child_name, parent_name);
    }
    return {};
  }

  bool reads(int reader, int stage, std::vector<bool>& seen) const {
    for (const Definition& definition : nest_.stage(reader).definitions) {
      for (const int producer : definition.producers) {
        if (producer == stage) return true;
        if (seen[static_cast<std::size_t>(producer)]) continue;
        seen[static_cast<std::size_t>(producer)] = true;
        if (reads(producer, stage, seen)) return true;
      }
    }
    return false;
  }

  std::string refuse_dependence(const Pair& pair) const {
    for (const auto& [reader, read] : {std::pair(pair.child_stage, pair.parent_stage), std::pair(pair.parent_stage, pair.child_stage)}) {
      std::vector<bool> seen(nest_.stages().size(), false);
      if (reads(reader, read, seen))
        return fmt::format("{} reads {}, which must be complete before; only stages that do not need each other share loops, the others compute_at", nest_.stage(reader).name,
                           nest_.stage(read).name);
    }
    return {};
  }

  // Halide's rule: as a stage's definitions advance, so do those of its partner, which only neighbours may share.
  std::string refuse_order(const Pair& pair) const {
    const StageLoops &child = nest_.stage(pair.child_stage), &parent = nest_.stage(pair.parent_stage);
    const Definition* previous = nullptr;
    for (int u = -1; u < pair.child->update; ++u)
      if (const Definition* earlier = child.find(u, {}); earlier->companion.stage == pair.parent_stage) previous = earlier;
    if (previous == nullptr) return {};
    const int theirs = pair.child->companion.update, before = previous->companion.update;
    const bool are_neighbours = pair.child->update == previous->update + 1;
    if (theirs > before || (theirs == before && are_neighbours)) return {};
    return fmt::format("{} goes along with {} and {}, which comes after it, with {}; the later one must go along with a later one", name_of(child, *previous),
                       name_of(parent, *parent.find(before, {})), name_of(child, *pair.child), name_of(parent, *pair.parent));
  }

  // Stages that share loops come at once: no circle of reads may lead from one such group back into it.
  void check_circles() {
    std::vector<int> group(nest_.stages().size());
    for (std::size_t i = 0; i < group.size(); ++i) group[i] = static_cast<int>(i);
    for (const Pair& pair : pairs_) {
      for (const Pair& other : pairs_)
        if (other.child_stage == pair.parent_stage && other.parent_stage == pair.child_stage && other.child->companion.directive < pair.child->companion.directive)
          return offer(pair.child->companion.directive,
                       fmt::format("{} already goes along with {}; let the one go along with the other, not both", nest_.stage(other.child_stage).name,
                                   nest_.stage(other.parent_stage).name));
      const int from = group[static_cast<std::size_t>(pair.child_stage)], to = group[static_cast<std::size_t>(pair.parent_stage)];
      std::replace(group.begin(), group.end(), from, to);
      if (returns(group, to))
        return offer(pair.child->companion.directive,
                     fmt::format("{} and {} cannot come at once: with the loops shared so far, a stage that needs the one is needed for the other; share those of one "
                                 "pair only",
                                 nest_.stage(pair.child_stage).name, nest_.stage(pair.parent_stage).name));
    }
  }

  // Whether reads lead from a group back into it, through other groups or not.
  bool returns(const std::vector<int>& group, int which) const {
    std::vector<bool> seen(group.size(), false);
    const std::function<bool(int)> leads_back = [&](int from) {
      for (std::size_t s = 0; s < group.size(); ++s) {
        if (group[s] != from) continue;
        for (const Definition& definition : nest_.stage(static_cast<int>(s)).definitions) {
          for (const int producer : definition.producers) {
            const int next = group[static_cast<std::size_t>(producer)];
            if (next == which) return true;
            if (seen[static_cast<std::size_t>(next)]) continue;
            seen[static_cast<std::size_t>(next)] = true;
            if (leads_back(next)) return true;
          }
        }
      }
      return false;
    };
    return leads_back(which);
  }

  // The shared loops are the partner's: at those of the one that goes along nothing can be placed.
  void check_placements() {
    for (const StageLoops& placed : nest_.stages()) {
      for (const Level* level : {&placed.compute, &placed.store, &placed.hoist}) {
        if (level->kind != Level::Kind::at) continue;
        for (const Pair& pair : pairs_) {
          if (level->stage != pair.child_stage) continue;
          const int id = pair.child->find(level->loop);
          if (id < 0 || pair.child->place(id) < pair.child->place(pair.child->find(pair.child->companion.loop))) continue;
          offer(std::max(level->directive, pair.child->companion.directive),
                fmt::format("loop '{}' of {} is that of {} from here on, so {} has no place there; use a loop inside the shared ones or compute_root()",
                            level->loop, nest_.stage(pair.child_stage).name, nest_.stage(pair.parent_stage).name, placed.name));
        }
      }
    }
  }

  const LoopNest& nest_;
  std::vector<Pair> pairs_;
  std::optional<Illegal> found_;
};

}  // namespace

std::optional<Illegal> find_unfit_companion(const LoopNest& nest) { return Finder(nest).find(); }

}  // namespace kiln
