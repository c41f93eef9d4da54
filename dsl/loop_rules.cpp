// The rules of loop_nest.h that several directives share: split, fuse, reorder, rename, mark.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dsl/directive.h"
#include "dsl/loop_nest.h"
#include "dsl/numerics.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

LoopVariable& variable(Definition& definition, int id) { return definition.variables[static_cast<std::size_t>(id)]; }

std::string loop_names(const Definition& definition) {
  std::vector<std::string> names;
  for (const int id : definition.order) {
    const std::string& name = definition.variables[static_cast<std::size_t>(id)].name;
    if (!name.empty()) names.push_back(name);
  }
  return listed(names);
}

// A name that a split, fuse or rename makes: free, or that of a loop it replaces.
std::string refuse_name(const Subject& subject, const std::string& name, std::initializer_list<int> replaced) {
  if (name.find_first_of(".#(=") != std::string::npos) return fmt::format("'{}' cannot name a new loop; write one word of letters, digits and _", name);
  const int taken = subject.definition.find(name);
  if (taken < 0 || std::find(replaced.begin(), replaced.end(), taken) != replaced.end()) return {};
  return fmt::format("{} has a loop '{}' already; its loops are {}, so choose another name", subject.definition_name(), name,
                     loop_names(subject.definition));
}

std::string refuse_marked(const LoopVariable& loop, std::string_view verb) {
  if (loop.kind == LoopKind::serial) return {};
  return fmt::format("loop '{}' is {} already; {} it first, then say how its parts run", loop.name, print(loop.kind), verb);
}

// Whether a variable is, or stems from, the part of a split that `starts` names: {inner, outer} of a given split.
template <typename Starts>
bool stems_from(const Definition& definition, int id, const Starts& starts) {
  std::vector<bool> stems(definition.variables.size(), false);
  for (const LoopRewrite& rewrite : definition.rewrites) {
    const auto old = static_cast<std::size_t>(rewrite.old), outer = static_cast<std::size_t>(rewrite.outer),
               inner = static_cast<std::size_t>(rewrite.inner);
    if (rewrite.kind == LoopRewrite::Kind::split) {
      const auto [inner_starts, outer_starts] = starts(rewrite);
      stems[inner] = stems[old] || inner_starts;
      stems[outer] = stems[old] || outer_starts;
    } else {
      stems[old] = stems[inner] || stems[outer];
    }
  }
  return stems[static_cast<std::size_t>(id)];
}

bool stems_from_inner(const Definition& definition, int id) {
  return stems_from(definition, id, [](const LoopRewrite&) { return std::pair(true, false); });
}

// From a split whose loads or stores alone are masked: Halide splits its parts no further.
bool stems_from_half_masked(const Definition& definition, int id) {
  return stems_from(definition, id, [](const LoopRewrite& split) {
    const bool is_half_masked = split.tail == Tail::predicate_loads || split.tail == Tail::predicate_stores;
    return std::pair(is_half_masked, is_half_masked);
  });
}

// From the outer part of a split that shifts inwards: its last iterations go over the same elements.
bool stems_from_shifted(const Definition& definition, int id) {
  return stems_from(definition, id, [](const LoopRewrite& split) { return std::pair(false, shifts(split.tail)); });
}

// From the outer part of a split that shifts and blends: two of its iterations may meet at one element, of which one keeps what it finds there.
bool stems_from_shifted_blend(const Definition& definition, int id) {
  return stems_from(definition, id, [](const LoopRewrite& split) { return std::pair(false, split.tail == Tail::shift_inwards_and_blend); });
}

// Halide covers a split by an earlier, larger ShiftInwards split of the same loop: then Auto rounds up.
bool covered_by_shift(const Definition& definition, int id, std::int64_t factor) {
  std::vector<std::int64_t> cover(definition.variables.size(), 0);
  for (const LoopRewrite& rewrite : definition.rewrites) {
    if (rewrite.kind != LoopRewrite::Kind::split) continue;
    const std::int64_t old = cover[static_cast<std::size_t>(rewrite.old)];
    if (rewrite.tail == Tail::shift_inwards) {
      cover[static_cast<std::size_t>(rewrite.outer)] = rewrite.factor;
    } else {
      cover[static_cast<std::size_t>(rewrite.inner)] = old;
      cover[static_cast<std::size_t>(rewrite.outer)] = old;
    }
  }
  return cover[static_cast<std::size_t>(id)] >= factor;
}

// What Halide makes of Auto.
Tail resolved(const Subject& subject, int id, std::int64_t factor, Tail tail) {
  if (tail != Tail::automatic) return tail;
  const Definition& definition = subject.definition;
  if (definition.variables[static_cast<std::size_t>(id)].is_reduction) return Tail::guard_with_if;
  if (subject.directive.update >= 0) return stems_from_inner(definition, id) ? Tail::guard_with_if : Tail::round_up;
  return covered_by_shift(definition, id, factor) ? Tail::round_up : Tail::shift_inwards;
}

bool shares_parallel_loop(const Definition& definition, std::uint64_t roots) {
  return std::any_of(definition.variables.begin(), definition.variables.end(),
                     [&](const LoopVariable& other) { return other.kind == LoopKind::parallel && (other.roots & roots) != 0; });
}

// Why a tail may change the meaning where it stands, with the ones that do not.
std::string refuse_tail(const Subject& subject, int id, Tail tail) {
  const Definition& definition = subject.definition;
  const LoopVariable& loop = definition.variables[static_cast<std::size_t>(id)];
  const std::string& name = tail_strategies()[static_cast<std::size_t>(tail)];
  if (loop.is_reduction && tail != Tail::guard_with_if && tail != Tail::predicate)
    return fmt::format("'{}' is a reduction loop, where {} would add terms twice or terms that do not exist; use GuardWithIf, Predicate or Auto",
                       loop.name, name);
  if (subject.directive.update >= 0 && tail == Tail::shift_inwards)
    return fmt::format("ShiftInwards would update elements twice; in an update use RoundUp, GuardWithIf, Predicate or Auto");
  const bool is_inner = stems_from_inner(definition, id);
  if (is_inner && subject.directive.update >= 0 && tail == Tail::round_up)
    return fmt::format("'{}' is the inner part of a split, where RoundUp would update elements of the next tile twice; use GuardWithIf or Auto",
                       loop.name);
  if (is_inner && tail == Tail::predicate_loads)
    return fmt::format("'{}' is the inner part of a split, where PredicateLoads would store to the next tile; use GuardWithIf, Predicate or Auto",
                       loop.name);
  if ((tail == Tail::predicate_loads || blends(tail)) && stems_from_shifted(definition, id))
    return fmt::format("'{}' stems from a split that shifts inwards, onto whose elements {} would store what it did not compute; use GuardWithIf, Predicate "
                       "or Auto",
                       loop.name, name);
  if (blends(tail) && shares_parallel_loop(definition, loop.roots))
    return fmt::format("{} loads and stores elements beyond its own, which a parallel loop of the same dimension may be computing; use GuardWithIf",
                       name);
  return {};
}

std::int64_t rounded_up_quotient(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// How often a loop runs at most, where that follows from the algorithm: a part of a loop that runs once runs once, whatever its factor.
std::optional<std::int64_t> most_iterations(const Definition& definition, int id) {
  std::vector<std::optional<std::int64_t>> most(definition.variables.size());
  for (std::size_t i = 0; i < definition.facts->loops.size(); ++i) most[i] = definition.facts->loops[i].constant;
  for (const LoopRewrite& rewrite : definition.rewrites) {
    auto &old = most[static_cast<std::size_t>(rewrite.old)], &outer = most[static_cast<std::size_t>(rewrite.outer)],
         &inner = most[static_cast<std::size_t>(rewrite.inner)];
    if (rewrite.kind == LoopRewrite::Kind::split) {
      inner = std::min(rewrite.factor, old.value_or(rewrite.factor));
      if (old) outer = rounded_up_quotient(*old, rewrite.factor);
    } else if (outer && inner) {
      old = *outer * *inner;
    }
  }
  return most[static_cast<std::size_t>(id)];
}

// Vectorising or parallelising iterations that depend on each other.
std::string refuse_reduction(Subject& subject, const LoopVariable& loop, const std::string& name, LoopKind kind) {
  if (!loop.is_ordered || kind == LoopKind::unrolled || kind == LoopKind::serial) return {};
  if (!subject.definition.facts->is_associative)
    return fmt::format("'{}' is a reduction loop whose steps depend on each other, and {} is no sum, product, min, max, and/or of terms that may be "
                       "regrouped; only a pure loop can be {}",
                       name, subject.definition_name(), print(kind));
  if (!subject.definition.is_atomic)
    return fmt::format("'{}' is a reduction loop; write {}.update({}).atomic() before it is {}", name, subject.stage.name, subject.directive.update,
                       print(kind));
  // Halide combines the lanes of such a vector wrongly, and fails.
  if (kind == LoopKind::vectorized && most_iterations(subject.definition, static_cast<int>(&loop - subject.definition.variables.data())) == 1)
    return fmt::format("loop '{}' runs once at most, so there are no terms to put side by side; only pure loops can be vectorized there", name);
  const bool is_strict = most_allowed(subject.nest.facts().algorithm->contract) == NumericsEffect::none;
  const std::string only_pure = fmt::format("only pure loops may be {}", print(kind));
  if (kind == LoopKind::vectorized)
    return claim_effect(subject, NumericsEffect::partial_sums, fmt::format("it keeps several partial sums of '{}'", name), only_pure);
  return claim_effect(subject, NumericsEffect::any_order, fmt::format("threads would add the terms of '{}' in any order", name),
                      is_strict ? only_pure : "rfactor a part of the loop and make that parallel");
}

std::string refuse_width(const Subject& subject, const LoopVariable& loop, LoopKind kind) {
  const Definition& definition = subject.definition;
  if (kind == LoopKind::vectorized) {
    for (const int id : definition.order) {
      const LoopVariable& other = definition.variables[static_cast<std::size_t>(id)];
      if (&other != &loop && other.kind == LoopKind::vectorized && (other.roots & loop.roots) != 0)
        return fmt::format("another part of the same dimension of {} is vectorized already; vectorize each dimension once, with the whole width",
                           subject.definition_name());
    }
  }
  if (kind == LoopKind::vectorized && loop.constant && *loop.constant < 2) return fmt::format("a vector needs at least 2 lanes, found {}", *loop.constant);
  return {};  // how many lanes and copies there are in all is asked when every directive is read
}

// `name` is what the user calls the loop: the inner part of vectorize(x, 8) has no name of its own.
std::string mark(Subject& subject, int id, const std::string& name, LoopKind kind) {
  LoopVariable& loop = variable(subject.definition, id);
  if (loop.kind != LoopKind::serial) return fmt::format("loop '{}' is {} already; a loop runs in one way", name, print(loop.kind));
  if (kind == LoopKind::serial) return {};
  if (std::string why = refuse_reduction(subject, loop, name, kind); !why.empty()) return why;
  loop.kind = kind;
  loop.marked_by = subject.index;
  if (kind == LoopKind::parallel) {
    for (const LoopRewrite& rewrite : subject.definition.rewrites)
      if (blends(rewrite.tail) && (variable(subject.definition, rewrite.old).roots & loop.roots) != 0)
        return fmt::format("'{}' stems from a split with a Blend tail, which touches elements of other iterations; use GuardWithIf there", name);
  }
  if (kind == LoopKind::vectorized && stems_from_shifted_blend(subject.definition, id))
    return fmt::format("'{}' stems from a split with ShiftInwardsAndBlend, whose iterations may store to the same elements and must not do so at once; use "
                       "GuardWithIf there or vectorize the inner part",
                       name);
  return refuse_width(subject, loop, kind);
}

std::string set_place(const Subject& subject, Level& level, std::string_view verb) {
  level.stage = subject.nest.find(subject.word(0));
  level.loop = subject.word(1);
  if (&subject.nest.stages()[static_cast<std::size_t>(level.stage)] == &subject.stage)
    return fmt::format("{0} cannot be {1} at a loop of its own; name a stage that reads it", subject.stage.name, verb);
  return {};
}

}  // namespace

std::string no_such_loop(const Subject& subject, const std::string& name) {
  for (const LoopRewrite& rewrite : subject.definition.rewrites) {
    const LoopVariable& old = subject.definition.variables[static_cast<std::size_t>(
        rewrite.kind == LoopRewrite::Kind::split ? rewrite.old : rewrite.inner)];
    const LoopVariable& outer = subject.definition.variables[static_cast<std::size_t>(rewrite.outer)];
    if (rewrite.kind == LoopRewrite::Kind::split && old.name == name)
      return fmt::format("loop '{}' of {} was split; its loops are now {}", name, subject.definition_name(), loop_names(subject.definition));
    if (rewrite.kind == LoopRewrite::Kind::fuse && (old.name == name || outer.name == name))
      return fmt::format("loop '{}' of {} was fused; its loops are now {}", name, subject.definition_name(), loop_names(subject.definition));
  }
  std::string elsewhere;
  for (std::size_t d = 0; d < subject.stage.definitions.size() && elsewhere.empty(); ++d) {
    const Definition& other = subject.stage.definitions[d];
    if (&other == &subject.definition || other.find(name) < 0) continue;
    elsewhere = d == 0 ? fmt::format("; {} itself has it", subject.stage.name)
                       : fmt::format("; update({}) has it: {}.update({})", d - 1, subject.stage.name, d - 1);
  }
  return fmt::format("{} has no loop '{}'; its loops are {}{}", subject.definition_name(), name, loop_names(subject.definition), elsewhere);
}

int find_dimension(const Subject& subject, const std::string& name, std::string& why_not) {
  const int dimension = subject.stage.dimension(name);
  if (dimension < 0)
    why_not = fmt::format("'{}' is no dimension of {}; its dimensions are {}", name, subject.stage.name, listed(subject.stage.loops()));
  return dimension;
}

std::string bound_dimension(Subject& subject, const std::string& name, std::int64_t min, std::int64_t extent) {
  std::string why;
  const StageLoops& stage = subject.stage;
  const int dimension = find_dimension(subject, name, why);
  if (dimension < 0) return why;
  // Elsewhere a tail may ask a producer for more than the problem's extents: Halide then stops the call.
  if (!stage.is_output())
    return fmt::format("how much of {} is computed follows from what reads it; bound the outputs, which are {}", stage.name,
                       listed(subject.nest.facts().algorithm->outputs));
  if (extent < 1) return fmt::format("an extent is at least 1, found {}", extent);
  if (min != 0) return fmt::format("'{}' of the output {} starts at 0, not at {}", name, stage.name, min);
  const auto& asked = stage.facts->extents[static_cast<std::size_t>(dimension)];
  if (asked && *asked != extent)
    return fmt::format("'{}' of the output {} has {} elements in this problem, not {}", name, stage.name, *asked, extent);
  subject.stage.bounds[static_cast<std::size_t>(dimension)] = extent;
  return {};
}

std::string set_compute_level(Subject& subject, Level::Kind kind) {
  StageLoops& stage = subject.stage;
  if (stage.is_output()) {
    if (kind == Level::Kind::root) return {};  // where it is computed anyway
    return fmt::format("{} is an output, which is computed at root; only other stages can be computed {}", stage.name,
                       kind == Level::Kind::at ? "at its loops" : "inline");
  }
  if (stage.compute.directive != kNoDirective) return fmt::format("it is said already where {} is computed; say it once", stage.name);
  stage.compute = {kind, -1, {}, subject.index};
  return kind == Level::Kind::at ? set_place(subject, stage.compute, "computed") : std::string();
}

std::string set_hoist_level(Subject& subject, Level::Kind kind) {
  StageLoops& stage = subject.stage;
  if (stage.is_output()) return fmt::format("{} is an output: the caller allocates it", stage.name);
  if (stage.hoist.directive != kNoDirective) return fmt::format("it is said already where the memory of {} is taken; say it once", stage.name);
  stage.hoist = {kind, -1, {}, subject.index};
  return kind == Level::Kind::at ? set_place(subject, stage.hoist, "allocated") : std::string();
}

std::string set_store_level(Subject& subject, Level::Kind kind) {
  StageLoops& stage = subject.stage;
  if (stage.is_output()) return fmt::format("{} is an output: the caller allocates it", stage.name);
  if (stage.store.directive != kNoDirective) return fmt::format("it is said already where {} is stored; say it once", stage.name);
  stage.store = {kind, -1, {}, subject.index};
  return kind == Level::Kind::at ? set_place(subject, stage.store, "stored") : std::string();
}

std::string split_loop(Subject& subject, const std::string& loop, const std::string& outer, const std::string& inner, std::int64_t factor,
                       Tail tail) {
  Definition& definition = subject.definition;
  const int old = definition.find(loop);
  if (old < 0) return no_such_loop(subject, loop);
  if (factor < 1) return fmt::format("'{}' cannot be split by {}; a factor is at least 1", loop, factor);
  if (outer == inner) return fmt::format("both parts of '{}' would be called '{}'; give them different names", loop, outer);
  if (std::string why = refuse_name(subject, outer, {old}); !why.empty()) return why;
  if (!inner.empty())
    if (std::string why = refuse_name(subject, inner, {old}); !why.empty()) return why;
  if (std::string why = refuse_marked(variable(definition, old), "split"); !why.empty()) return why;
  if (stems_from_half_masked(definition, old))
    return fmt::format("'{}' stems from a split with PredicateLoads or PredicateStores, whose parts cannot be split again; use Predicate or GuardWithIf "
                       "there",
                       loop);
  tail = resolved(subject, old, factor, tail);
  if (std::string why = refuse_tail(subject, old, tail); !why.empty()) return why;

  LoopVariable inner_part = variable(definition, old), outer_part = inner_part;
  inner_part.name = inner;
  inner_part.constant = factor;
  outer_part.name = outer;
  if (outer_part.constant) outer_part.constant = rounded_up_quotient(*outer_part.constant, factor);
  const int inner_id = static_cast<int>(definition.variables.size()), outer_id = inner_id + 1;
  definition.variables.push_back(std::move(inner_part));
  definition.variables.push_back(std::move(outer_part));
  const auto place = definition.order.begin() + definition.place(old);
  *place = outer_id;
  definition.order.insert(place, inner_id);
  definition.rewrites.push_back({LoopRewrite::Kind::split, old, outer_id, inner_id, factor, tail, subject.index});
  return {};
}

std::string fuse_loops(Subject& subject, const std::string& inner, const std::string& outer, const std::string& fused) {
  Definition& definition = subject.definition;
  const int inner_id = definition.find(inner), outer_id = definition.find(outer);
  if (inner_id < 0) return no_such_loop(subject, inner);
  if (outer_id < 0) return no_such_loop(subject, outer);
  if (inner_id == outer_id) return fmt::format("'{}' cannot be fused with itself", inner);
  if (std::string why = refuse_name(subject, fused, {inner_id, outer_id}); !why.empty()) return why;
  const LoopVariable inner_loop = variable(definition, inner_id), outer_loop = variable(definition, outer_id);
  for (const LoopVariable* loop : {&inner_loop, &outer_loop})
    if (std::string why = refuse_marked(*loop, "fuse"); !why.empty()) return why;
  if (inner_loop.is_reduction != outer_loop.is_reduction)
    return fmt::format("'{}' is a {} loop and '{}' a {} loop; only loops of one sort can be fused", inner, inner_loop.is_reduction ? "reduction" : "pure",
                       outer, outer_loop.is_reduction ? "reduction" : "pure");
  if (definition.place(outer_id) != definition.place(inner_id) + 1)
    return fmt::format("'{}' is not the loop just outside '{}'; the loops are {}, innermost first: reorder them first", outer, inner,
                       loop_names(definition));
  LoopVariable loop = inner_loop;
  loop.name = fused;
  loop.is_ordered = inner_loop.is_ordered || outer_loop.is_ordered;
  loop.roots |= outer_loop.roots;
  loop.constant.reset();
  if (inner_loop.constant && outer_loop.constant) loop.constant = *inner_loop.constant * *outer_loop.constant;
  const int id = static_cast<int>(definition.variables.size());
  definition.variables.push_back(std::move(loop));
  definition.order[static_cast<std::size_t>(definition.place(inner_id))] = id;
  std::erase(definition.order, outer_id);
  definition.rewrites.push_back({LoopRewrite::Kind::fuse, id, outer_id, inner_id, 1, Tail::automatic, subject.index});
  return {};
}

std::string reorder_loops(Subject& subject, const std::vector<std::string>& innermost_first) {
  Definition& definition = subject.definition;
  std::vector<int> ids, places;
  for (const std::string& name : innermost_first) {
    const int id = definition.find(name);
    if (id < 0) return no_such_loop(subject, name);
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) return fmt::format("'{}' is named twice", name);
    ids.push_back(id);
    places.push_back(definition.place(id));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t j = i + 1; j < ids.size(); ++j) {
      if (!variable(definition, ids[i]).is_ordered || !variable(definition, ids[j]).is_ordered || places[i] < places[j]) continue;
      const DefinitionFacts& facts = *definition.facts;
      if (!facts.is_associative && !facts.is_constant)
        return fmt::format("'{}' and '{}' are reduction loops whose steps depend on each other, and {} is no sum, product, min, max, and/or of terms "
                           "that may be reordered; keep '{}' inside '{}'",
                           innermost_first[i], innermost_first[j], subject.definition_name(), innermost_first[j], innermost_first[i]);
      if (facts.is_constant) continue;
      std::string why = claim_effect(subject, NumericsEffect::reorders_reduction,
                                     fmt::format("it adds the terms over '{}' and '{}' in another order", innermost_first[i], innermost_first[j]),
                                     fmt::format("keep '{}' inside '{}'", innermost_first[j], innermost_first[i]));
      if (!why.empty()) return why;
    }
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < ids.size(); ++i) definition.order[static_cast<std::size_t>(places[i])] = ids[i];
  return {};
}

std::string rename_loop(Subject& subject, const std::string& loop, const std::string& name) {
  const int id = subject.definition.find(loop);
  if (id < 0) return no_such_loop(subject, loop);
  if (std::string why = refuse_name(subject, name, {id}); !why.empty()) return why;
  variable(subject.definition, id).name = name;
  return {};
}

std::string mark_loop(Subject& subject, const std::string& name, LoopKind kind) {
  const int id = subject.definition.find(name);
  return id < 0 ? no_such_loop(subject, name) : mark(subject, id, name, kind);
}

std::string mark_for_gpu(Subject& subject, LoopKind kind) {
  for (const LoopVariable& other : subject.definition.variables)
    if (other.kind == kind)
      return fmt::format("loop '{}' of {} is {} already; name all such loops in one {}(…)", other.name, subject.definition_name(), print(kind),
                         subject.directive.name);
  for (std::size_t i = 0; i < subject.count(); ++i) {
    const int id = subject.definition.find(subject.word(i));
    if (id < 0) return no_such_loop(subject, subject.word(i));
    LoopVariable& loop = variable(subject.definition, id);
    if (loop.is_reduction)
      return fmt::format("'{}' is a reduction loop; the sums of a kernel are split over the threads of a row by rows(per_block, threads)", loop.name);
    if (loop.kind != LoopKind::serial) return fmt::format("loop '{}' is {} already; a loop runs in one way", loop.name, print(loop.kind));
    loop.kind = kind;
    loop.marked_by = subject.index;
  }
  return {};
}

std::string said_twice(const Subject& subject) {
  return fmt::format("{} is said of {} already; say it once", subject.directive.name, subject.stage.name);
}

std::string no_such_input(const Subject& subject, const std::string& name) {
  std::vector<std::string> inputs;
  for (const Argument& argument : subject.nest.facts().algorithm->arguments)
    if (!argument.is_output && !argument.is_scalar) inputs.push_back(argument.name);
  if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) return {};
  return fmt::format("there is no input '{}'; the inputs are {}", name, listed(inputs));
}

std::string split_and_mark(Subject& subject, const std::string& loop, std::int64_t factor, Tail tail, LoopKind kind) {
  if (std::string why = split_loop(subject, loop, loop, "", factor, tail); !why.empty()) return why;
  const LoopRewrite& split = subject.definition.rewrites.back();
  return mark(subject, kind == LoopKind::parallel ? split.outer : split.inner, loop, kind);
}

}  // namespace kiln
