#include "dsl/tails.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dsl/condition.h"
#include "dsl/directive.h"
#include "dsl/placement.h"

namespace kiln {
namespace {

using Extents = std::vector<std::optional<std::int64_t>>;

const std::string& name_of(Tail tail) { return tail_strategies()[static_cast<std::size_t>(tail)]; }

bool masks_all(Tail tail) { return tail == Tail::guard_with_if || tail == Tail::predicate; }
bool masks_stores(Tail tail) { return masks_all(tail) || tail == Tail::predicate_stores; }

// A split whose parts run over more than the loop that was split.
struct Overrun {
  const LoopRewrite* split = nullptr;
  std::int64_t runs = 0;  // of the loop that was split
};

// The splits that leave `extents` (by dimension) unless `is_masked` says that their tail does not touch what lies outside.
std::vector<Overrun> overruns(const StageLoops& stage, const Definition& definition, const Extents& extents, bool (*is_masked)(Tail)) {
  std::vector<Overrun> out;
  std::vector<std::optional<std::int64_t>> runs(definition.variables.size());
  std::vector<bool> is_constant(definition.variables.size(), false);  // Halide knows the runs as well: an output's only when they are bounded
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const int loop = definition.facts->pure_loop[d];
    if (loop < 0) continue;
    runs[static_cast<std::size_t>(loop)] = extents[d];
    is_constant[static_cast<std::size_t>(loop)] = !stage.is_output() || stage.bounds[d];
  }
  // A part of a masked loop cannot leave what the mask lets through, the outer part of a shifted one not what the shift clamps to.
  std::vector<bool> is_guarded(definition.variables.size(), false);
  // Of an inner part Halide counts masked stores as reached.
  std::vector<bool> is_inner(definition.variables.size(), false);
  for (const LoopRewrite& rewrite : definition.rewrites) {
    const auto old = static_cast<std::size_t>(rewrite.old), outer = static_cast<std::size_t>(rewrite.outer),
               inner = static_cast<std::size_t>(rewrite.inner);
    if (rewrite.kind == LoopRewrite::Kind::fuse) {
      if (runs[outer] && runs[inner]) runs[old] = *runs[outer] * *runs[inner];
      is_inner[old] = is_inner[outer] || is_inner[inner];
      is_constant[old] = is_constant[outer] && is_constant[inner];
      continue;
    }
    runs[inner] = rewrite.factor;
    is_inner[inner] = is_constant[inner] = true;
    is_constant[outer] = is_constant[old];
    is_inner[outer] = is_inner[old];
    if (!runs[old]) continue;
    runs[outer] = (*runs[old] + rewrite.factor - 1) / rewrite.factor;
    const bool starts_before = shifts(rewrite.tail) && *runs[old] < rewrite.factor;
    const bool masks = is_masked(rewrite.tail) && (masks_all(rewrite.tail) || !is_inner[old]);
    // Halide makes no tail where it knows that the factor divides.
    const bool has_tail = rewrite.factor > 1 && (!is_constant[old] || *runs[old] % rewrite.factor != 0);
    const bool rounds = !shifts(rewrite.tail) && !masks && !is_guarded[old] && *runs[old] % rewrite.factor != 0;
    is_guarded[inner] = (masks && has_tail) || is_guarded[old];
    is_guarded[outer] = (shifts(rewrite.tail) && has_tail) || is_guarded[inner];
    if (starts_before || rounds) out.push_back({&rewrite, *runs[old]});
  }
  return out;
}

const std::string& loop_of(const Definition& definition, const Overrun& overrun) {
  return definition.variables[static_cast<std::size_t>(overrun.split->old)].name;
}

std::string times(std::int64_t runs) { return fmt::format("{} time{}", runs, runs == 1 ? "" : "s"); }

// An output's memory ends where the problem says.
std::string leaves_output(const StageLoops& stage, const Definition& definition, const Overrun& overrun) {
  const LoopRewrite& split = *overrun.split;
  const std::string& loop = loop_of(definition, overrun);
  if (shifts(split.tail))
    return fmt::format("loop '{}' of the output {} runs {} in this problem, fewer than {}: the tail {} would start before 0; use a factor of at "
                       "most {} or GuardWithIf",
                       loop, stage.name, times(overrun.runs), split.factor, name_of(split.tail), overrun.runs);
  return fmt::format("loop '{}' of the output {} runs {} in this problem, which {} does not divide: the tail {} would leave the output; use a "
                     "factor that divides it or GuardWithIf",
                     loop, stage.name, times(overrun.runs), split.factor, name_of(split.tail));
}

std::string leaves_input(const StageLoops& stage, const Definition& definition, const Overrun& overrun) {
  const LoopRewrite& split = *overrun.split;
  const std::string what = shifts(split.tail) ? fmt::format("fewer than {}", split.factor) : fmt::format("which {} does not divide", split.factor);
  const std::string remedy = shifts(split.tail) ? fmt::format("is at most {}", overrun.runs) : "divides it";
  return fmt::format("loop '{}' of {} runs {} there, {}: the tail {} would read outside the input; use a factor that {} or GuardWithIf",
                     loop_of(definition, overrun), stage.name, times(overrun.runs), what, name_of(split.tail), remedy);
}

bool copies_input(const StageLoops& stage) { return stage.facts->stage->name.ends_with(".in"); }

// What a call of this problem runs for a definition: its first specialization whose condition holds, else itself.
const Definition& taken(const LoopNest& nest, const StageLoops& stage, int update) {
  const AlgorithmFacts& facts = nest.facts();
  const auto is_fulfilled = [&](const Clause& clause) {
    return holds(clause, extent_of(*facts.problem, *facts.algorithm, clause.argument, clause.dimension));
  };
  for (const Definition& definition : stage.definitions) {
    if (definition.update != update || definition.condition.empty() || !facts.problem) continue;
    const std::vector<Clause> clauses = clauses_of(definition.condition);
    if (std::all_of(clauses.begin(), clauses.end(), is_fulfilled)) return definition;
  }
  return *stage.find(update, {});
}

// Whether the pure definition loads an input, not copied elsewhere, at exactly its own dimension's index.
bool loads_input_along(const LoopNest& nest, const StageLoops& stage, std::size_t dimension) {
  if (copies_input(stage)) return true;
  const Definition& definition = stage.definitions.front();
  const int loop = definition.facts->pure_loop[dimension];
  for (std::size_t u = 0; u < definition.producers.size(); ++u) {
    const StageLoops& producer = nest.stages()[static_cast<std::size_t>(definition.producers[u])];
    if (!producer.is_inlined() || !copies_input(producer)) continue;
    for (const std::vector<IndexForm>& forms : definition.facts->uses[u].dimensions)
      for (const IndexForm& form : forms)
        if (form.is_known && form.slack == 0 && form.low == 0 && form.terms == decltype(form.terms){{loop, 1.0}}) return true;
  }
  return false;
}

// The extents of the dimensions along which too much would leave an input; the rest stay open.
Extents copied_extents(const LoopNest& nest, int s) {
  const StageLoops& stage = nest.stages()[static_cast<std::size_t>(s)];
  Extents extents = constant_extents(nest, s);
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (!loads_input_along(nest, stage, d)) extents[d].reset();
  return extents;
}

class Finder {
 public:
  explicit Finder(const LoopNest& nest) : nest_(nest) {}

  std::optional<Illegal> find() {
    for (std::size_t s = 0; s < nest_.stages().size(); ++s) {
      const StageLoops& stage = nest_.stages()[s];
      if (stage.is_inlined()) continue;
      for (const Definition& definition : stage.definitions)
        for (const LoopRewrite& rewrite : definition.rewrites)
          if (rewrite.kind == LoopRewrite::Kind::split) check_kind(stage, definition, rewrite);
      if (stage.is_output()) {
        for (int update = -1; update < stage.updates(); ++update) {
          const Definition& definition = taken(nest_, stage, update);
          for (const Overrun& overrun : overruns(stage, definition, stage.facts->extents, masks_stores))
            offer(overrun.split->directive, leaves_output(stage, definition, overrun));
        }
      } else {
        const Definition& definition = taken(nest_, stage, -1);
        for (const Overrun& overrun : overruns(stage, definition, copied_extents(nest_, static_cast<int>(s)), masks_all))
          offer(overrun.split->directive, leaves_input(stage, definition, overrun));
      }
    }
    return std::move(found_);
  }

 private:
  void offer(std::size_t directive, std::string message) {
    if (!found_ || directive < found_->directive) found_ = Illegal{directive, std::move(message)};
  }

  void check_kind(const StageLoops& stage, const Definition& definition, const LoopRewrite& split) {
    if (blends(split.tail) && stage.slides())
      offer(std::max(split.directive, stage.store.directive),
            fmt::format("the tail {} loads elements of other iterations, which the storage of {} need not hold any more: it is stored further out than "
                        "it is computed; use GuardWithIf or store it where it is computed",
                        name_of(split.tail), stage.name));
    if (definition.is_atomic && (split.tail == Tail::predicate || split.tail == Tail::predicate_stores))
      offer(split.directive, fmt::format("an atomic update cannot mask its stores, as {} does; use GuardWithIf", name_of(split.tail)));
    if (definition.is_atomic && blends(split.tail))
      offer(split.directive, fmt::format("an atomic update cannot store what it finds, as {} does, without a lock; use GuardWithIf", name_of(split.tail)));
  }

  const LoopNest& nest_;
  std::optional<Illegal> found_;
};

}  // namespace

std::optional<Illegal> find_overrun(const LoopNest& nest) { return Finder(nest).find(); }

}  // namespace kiln
