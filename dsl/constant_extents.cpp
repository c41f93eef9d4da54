// constant_extents of placement.h: how far a stage's dimensions reach at the place where it is computed, by the indices at which it is read.
#include <algorithm>
#include <cmath>

#include "dsl/placement.h"

namespace kiln {
namespace {

using Extent = std::optional<std::int64_t>;
using Extents = std::vector<Extent>;

const StageLoops& stage_at(const LoopNest& nest, int stage) { return nest.stages()[static_cast<std::size_t>(stage)]; }

bool guards(Tail tail) { return tail != Tail::round_up && !shifts(tail) && !blends(tail); }

// How far a split loop reaches when its parts do. Three cases are left open because Halide does not bound them: parts with gaps between them, a
// factor beyond the whole loop, whose guard it folds into the other ends, and some of the parts of a loop that ends within one of them.
Extent joined_span(const LoopRewrite& split, Extent whole, Extent outer, Extent inner) {
  if (outer == Extent(1) && inner == Extent(1)) return 1;
  if (whole && split.factor > *whole && split.tail != Tail::round_up) return std::nullopt;
  if (!outer || !inner) return std::nullopt;
  if (*outer > 1 && *inner < split.factor) return std::nullopt;
  if (whole && guards(split.tail) && *whole % split.factor != 0 && *outer * split.factor < *whole) return std::nullopt;
  const std::int64_t reach = (*outer - 1) * split.factor + *inner;
  return whole ? std::min(reach, *whole) : reach;
}

}  // namespace

Extents spans_within(const Definition& definition, int inside) {
  Extents spans(definition.variables.size());
  for (int place = 0; place < static_cast<int>(definition.order.size()); ++place) {
    const auto id = static_cast<std::size_t>(definition.order[static_cast<std::size_t>(place)]);
    spans[id] = place < inside ? definition.variables[id].constant : Extent(1);
  }
  for (auto rewrite = definition.rewrites.rbegin(); rewrite != definition.rewrites.rend(); ++rewrite) {
    const auto old = static_cast<std::size_t>(rewrite->old), outer = static_cast<std::size_t>(rewrite->outer),
               inner = static_cast<std::size_t>(rewrite->inner);
    if (rewrite->kind == LoopRewrite::Kind::split) {
      spans[old] = joined_span(*rewrite, definition.variables[old].constant, spans[outer], spans[inner]);
    } else if (spans[old] == Extent(1)) {
      spans[outer] = spans[inner] = 1;
    } else {
      // The inner one is a remainder, which Halide takes for all of its values; the outer one a quotient, as far as the fused loop says.
      spans[outer] = spans[old] && spans[old] == definition.variables[old].constant ? definition.variables[outer].constant : Extent();
      spans[inner] = definition.variables[inner].constant;
    }
  }
  return spans;
}

namespace {

class ExtentReader {
 public:
  ExtentReader(const LoopNest& nest, const Level& level) : nest_(nest), level_(level), known_(nest.stages().size()) {}

  const Extents& required(int stage) {
    std::optional<Extents>& memo = known_[static_cast<std::size_t>(stage)];
    if (memo) return *memo;
    const std::size_t rank = stage_at(nest_, stage).loops().size();
    memo = Extents(rank);  // what a cycle would see; there are none
    Extents extents(rank);
    std::vector<bool> seen(rank, false);
    for (std::size_t c = 0; c < nest_.stages().size(); ++c) {
      for (const Definition& definition : nest_.stages()[c].definitions) {
        for (std::size_t u = 0; u < definition.producers.size(); ++u)
          if (definition.producers[u] == stage) read(definition.facts->uses[u], spans(static_cast<int>(c), definition), extents, seen);
      }
    }
    const StageLoops& loops = stage_at(nest_, stage);
    for (std::size_t d = 0; d < rank; ++d) {
      const bool stores_elsewhere = std::any_of(loops.definitions.begin(), loops.definitions.end(),
                                                [&](const Definition& definition) { return definition.facts->pure_loop[d] < 0; });
      if (loops.slides() || loops.is_aligned[d] || stores_elsewhere) extents[d].reset();
      if (loops.bounds[d]) extents[d] = loops.bounds[d];
    }
    memo = std::move(extents);
    return *memo;
  }

 private:
  // How far the own loops of a consumer's definition reach within the level.
  Extents spans(int consumer, const Definition& definition) {
    const StageLoops& loops = stage_at(nest_, consumer);
    // Each specialization reaches as far as its own loops do, and Halide takes all of them together.
    if (std::any_of(loops.definitions.begin(), loops.definitions.end(), [](const Definition& other) { return !other.condition.empty(); }))
      return Extents(definition.variables.size());
    // A prefetch stands in the loop's body beside the guard of the last part, and Halide then takes the guard for a bound.
    const auto is_guarded = [](const LoopRewrite& rewrite) { return rewrite.kind == LoopRewrite::Kind::split && guards(rewrite.tail); };
    if (!definition.fetches.empty() && std::any_of(definition.rewrites.begin(), definition.rewrites.end(), is_guarded))
      return Extents(definition.variables.size());
    const bool is_inside = (level_.kind == Level::Kind::at && consumer == level_.stage) || (level_.kind == Level::Kind::inlined && !loops.is_inlined());
    if (is_inside && shares_loops(consumer)) return Extents(definition.variables.size());  // Halide unites both sides' iterations
    if (level_.kind == Level::Kind::at && consumer == level_.stage) {
      const int loop = definition.find(level_.loop);
      return spans_within(definition, loop < 0 ? static_cast<int>(definition.order.size()) : definition.place(loop));
    }
    if (level_.kind == Level::Kind::inlined && !loops.is_inlined()) return spans_within(definition, 0);
    Extents reached(definition.variables.size());
    for (std::size_t i = 0; i < definition.facts->loops.size(); ++i) reached[i] = definition.facts->loops[i].constant;
    const Extents& whole = loops.is_output() ? loops.bounds : required(consumer);
    for (std::size_t d = 0; d < whole.size(); ++d)
      if (const int loop = definition.facts->pure_loop[d]; loop >= 0) reached[static_cast<std::size_t>(loop)] = padded(definition, loop, whole[d]);
    return reached;
  }

  // Whether it is computed with another stage, or another one with it.
  bool shares_loops(int stage) const {
    for (std::size_t s = 0; s < nest_.stages().size(); ++s)
      for (const Definition& definition : nest_.stages()[s].definitions) {
        const int with = definition.companion.stage;
        if (with >= 0 && (with == stage || static_cast<int>(s) == stage)) return true;
      }
    return false;
  }

  // A dimension as far as its outermost split rounds it.
  static Extent padded(const Definition& definition, int loop, Extent extent) {
    if (!extent) return extent;
    for (const LoopRewrite& rewrite : definition.rewrites) {
      if (rewrite.kind != LoopRewrite::Kind::split || rewrite.old != loop) continue;
      if (shifts(rewrite.tail)) return std::max(*extent, rewrite.factor);
      if (rewrite.tail == Tail::guard_with_if || rewrite.tail == Tail::predicate || rewrite.tail == Tail::predicate_stores) return extent;
      return (*extent + rewrite.factor - 1) / rewrite.factor * rewrite.factor;
    }
    return extent;
  }

  static Extent reach_of(const std::vector<IndexForm>& forms, const Extents& spans) {
    // Forms that differ by more than a number may lie any distance apart, and rounded ones reach one element further in some iterations.
    if (forms.size() != 1 || !forms.front().is_known || forms.front().slack > 0) return std::nullopt;
    const IndexForm& form = forms.front();
    double reach = form.high - form.low + 1;
    for (const auto& [loop, coefficient] : form.terms) {
      const Extent span = spans[static_cast<std::size_t>(loop)];
      if (!span) return std::nullopt;
      reach += std::abs(coefficient) * static_cast<double>(*span - 1);
    }
    return static_cast<std::int64_t>(std::ceil(reach));
  }

  // Adds one read. A second one keeps the extent only when it reaches as far: two reads may start at different places.
  static void read(const Use& use, const Extents& spans, Extents& extents, std::vector<bool>& seen) {
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const Extent reach = d < use.dimensions.size() ? reach_of(use.dimensions[d], spans) : Extent();
      extents[d] = seen[d] && extents[d] != reach ? Extent() : reach;
      seen[d] = true;
    }
  }

  const LoopNest& nest_;
  const Level& level_;
  std::vector<std::optional<Extents>> known_;
};

}  // namespace

std::vector<std::optional<std::int64_t>> constant_extents(const LoopNest& nest, int stage) {
  const StageLoops& loops = stage_at(nest, stage);
  if (loops.is_output()) return loops.bounds;
  return ExtentReader(nest, loops.compute).required(stage);
}

}  // namespace kiln
