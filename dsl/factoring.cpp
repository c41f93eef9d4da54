// The rule of rfactor: one update becomes two, its partial sums in a stage of their own and their combination.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "dsl/loop_nest.h"
#include "dsl/numerics.h"

namespace kiln {
namespace {

constexpr int kDropped = -1;

// A loop of the update that stays with the combination, and what it is called where the partial sums are.
struct Kept {
  int variable = 0;
  std::string name;
};

std::size_t place(int id) { return static_cast<std::size_t>(id); }

// A loop as a sum over the reduction loops that there are now; nothing where a fusion hides it.
using Sum = std::optional<std::map<int, double>>;

std::vector<Sum> sums_of(const Definition& definition) {
  std::vector<Sum> sums(definition.variables.size());
  for (const int id : definition.order) sums[place(id)] = std::map<int, double>{{id, 1.0}};
  for (auto rewrite = definition.rewrites.rbegin(); rewrite != definition.rewrites.rend(); ++rewrite) {
    if (rewrite->kind == LoopRewrite::Kind::fuse) continue;
    const Sum &outer = sums[place(rewrite->outer)], &inner = sums[place(rewrite->inner)];
    if (!outer || !inner) continue;
    std::map<int, double> sum = *inner;
    for (const auto& [id, coefficient] : *outer) sum[id] += coefficient * static_cast<double>(rewrite->factor);
    sums[place(rewrite->old)] = std::move(sum);
  }
  return sums;
}

// Index forms over the loops of a new definition: `ids` says where each variable of the old one is.
IndexForm moved(const IndexForm& form, const Definition& old, const std::vector<Sum>& sums, const std::vector<int>& ids) {
  IndexForm result = form;
  std::map<int, double> terms;
  for (const auto& [loop, coefficient] : form.terms) {
    if (!old.facts->loops[place(loop)].is_reduction) {
      terms[ids[place(loop)]] += coefficient;
    } else if (const Sum& sum = sums[place(loop)]) {
      for (const auto& [id, factor] : *sum) terms[ids[place(id)]] += coefficient * factor;
    } else {
      result.is_known = false;
    }
  }
  result.terms.assign(terms.begin(), terms.end());
  if (!result.is_known) result.terms.clear();
  return result;
}

class Factoring {
 public:
  Factoring(Subject& subject, std::vector<Kept> kept) : nest_(subject.nest), stage_(subject.stage), old_(subject.definition), kept_(std::move(kept)) {
    // Where they stand decides the order of the new stage's dimensions.
    std::sort(kept_.begin(), kept_.end(), [&](const Kept& a, const Kept& b) { return old_.place(a.variable) < old_.place(b.variable); });
  }

  void run() {
    const int partial = static_cast<int>(nest_.stages().size());
    make_partial();
    combine(partial);
  }

 private:
  void make_partial() {
    StageFacts facts = *stage_.facts;
    facts.is_output = false;
    DefinitionFacts pure = first_facts();
    facts.extents.assign(pure.loops.size(), std::nullopt);
    DefinitionFacts update;
    update.is_associative = true;
    std::vector<int> ids(old_.variables.size(), kDropped);
    for (const int id : old_.order) {
      const LoopVariable& loop = old_.loop(id);
      if (!loop.is_reduction) continue;
      ids[place(id)] = static_cast<int>(update.loops.size());
      const auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.variable == id; });
      update.loops.push_back(kept == kept_.end() ? LoopFacts{loop.name, true, loop.is_ordered, loop.constant} : LoopFacts{kept->name, false, false, {}});
    }
    for (std::size_t d = 0; d < stage_.loops().size(); ++d) update.pure_loop.push_back(add_pure(update, ids, d));
    for (const Kept& kept : kept_) update.pure_loop.push_back(ids[place(kept.variable)]);
    const std::vector<Sum> sums = sums_of(old_);
    for (Use use : old_.facts->uses) {
      for (std::vector<IndexForm>& forms : use.dimensions)
        for (IndexForm& form : forms) form = moved(form, old_, sums, ids);
      update.uses.push_back(std::move(use));
    }
    facts.definitions = {std::move(pure), std::move(update)};
    StageLoops& partial = nest_.add_factored(stage_, std::move(facts));
    partial.definitions.push_back(first_loops(partial.facts->definitions[0], -1));
    partial.definitions.push_back(carried_over(partial.facts->definitions[1], 0, std::move(ids)));
    partial.definitions.back().producers = old_.producers;
  }

  // The identity over the stage's dimensions and one more for each kept loop.
  DefinitionFacts first_facts() const {
    DefinitionFacts pure;
    std::vector<std::string> loops = stage_.loops();
    for (const Kept& kept : kept_) loops.push_back(kept.name);
    for (const std::string& loop : loops) {
      pure.pure_loop.push_back(static_cast<int>(pure.loops.size()));
      pure.loops.push_back({loop, false, false, std::nullopt});
    }
    return pure;
  }

  // The update's loop over a dimension, if it has one: its place among the new loops.
  int add_pure(DefinitionFacts& facts, std::vector<int>& ids, std::size_t dimension) const {
    const int loop = old_.facts->pure_loop[dimension];
    if (loop < 0) return -1;
    ids[place(loop)] = static_cast<int>(facts.loops.size());
    facts.loops.push_back(old_.facts->loops[place(loop)]);
    return ids[place(loop)];
  }

  // c += c_intm over the kept loops, for every element of c.
  void combine(int partial) {
    DefinitionFacts facts;
    facts.is_associative = true;
    std::vector<int> ids(old_.variables.size(), kDropped);
    Use use{partial, {}, false};
    std::vector<std::vector<IndexForm>> kept_forms;
    for (const Kept& kept : kept_) {
      const LoopVariable& loop = old_.loop(kept.variable);
      ids[place(kept.variable)] = static_cast<int>(facts.loops.size());
      kept_forms.push_back({along(ids[place(kept.variable)])});
      facts.loops.push_back({loop.name, true, loop.is_ordered, loop.constant});
    }
    std::vector<int> missing;
    for (std::size_t d = 0; d < stage_.loops().size(); ++d) {
      int loop = add_pure(facts, ids, d);
      if (loop < 0) {
        loop = static_cast<int>(facts.loops.size());
        facts.loops.push_back({stage_.loops()[d], false, false, std::nullopt});
        missing.push_back(loop);
      }
      facts.pure_loop.push_back(loop);
      use.dimensions.push_back({along(loop)});
    }
    use.dimensions.insert(use.dimensions.end(), kept_forms.begin(), kept_forms.end());
    facts.uses.push_back(std::move(use));
    std::vector<int> producers = {partial};
    // The kept loops' bounds are made of those that the reduction had.
    for (std::size_t u = 0; u < old_.facts->uses.size(); ++u) {
      if (!old_.facts->uses[u].before_loops) continue;
      facts.uses.push_back(unknown(old_.facts->uses[u]));
      producers.push_back(old_.producers[u]);
    }
    Definition combined = carried_over(nest_.keep(std::move(facts)), old_.update, std::move(ids));
    combined.order.insert(combined.order.end(), missing.begin(), missing.end());
    combined.producers = std::move(producers);
    old_ = std::move(combined);
  }

  static Use unknown(Use use) {
    IndexForm form;
    form.is_known = false;
    for (std::vector<IndexForm>& forms : use.dimensions) forms = {form};
    return use;
  }

  static IndexForm along(int loop) {
    IndexForm form;
    form.terms = {{loop, 1.0}};
    return form;
  }

  // The old definition's pure parts and its order over new loops; `ids` has the place of those that are among `facts`.
  Definition carried_over(const DefinitionFacts& facts, int update, std::vector<int> ids) const {
    Definition fresh = first_loops(facts, update);
    for (std::size_t id = old_.facts->loops.size(); id < old_.variables.size(); ++id) {
      if (old_.variables[id].is_reduction) continue;
      ids[id] = static_cast<int>(fresh.variables.size());
      fresh.variables.push_back(old_.variables[id]);
    }
    for (LoopRewrite rewrite : old_.rewrites) {
      if (old_.loop(rewrite.old).is_reduction) continue;
      for (int* id : {&rewrite.old, &rewrite.outer, &rewrite.inner}) *id = ids[place(*id)];
      auto roots = [&](int id) -> std::uint64_t& { return fresh.variables[place(id)].roots; };
      if (rewrite.kind == LoopRewrite::Kind::split) {
        roots(rewrite.outer) = roots(rewrite.inner) = roots(rewrite.old);
      } else {
        roots(rewrite.old) = roots(rewrite.outer) | roots(rewrite.inner);
      }
      fresh.rewrites.push_back(rewrite);
    }
    fresh.order.clear();
    for (const int id : old_.order)
      if (ids[place(id)] != kDropped) fresh.order.push_back(ids[place(id)]);
    return fresh;
  }

  LoopNest& nest_;
  const StageLoops& stage_;
  Definition& old_;
  std::vector<Kept> kept_;
};

std::string refuse_definition(const Subject& subject) {
  const std::string& stage = subject.stage.name;
  const Definition& definition = subject.definition;
  if (!subject.directive.condition.empty()) return "a specialization cannot be factored; factor the update before it is specialized";
  if (definition.update < 0) {
    if (subject.stage.updates() == 0) return fmt::format("{} has no updates; rfactor belongs to one", stage);
    return fmt::format("rfactor belongs to an update; write {}.update(0).rfactor(…)", stage);
  }
  if (!definition.facts->is_associative)
    return fmt::format("{} is no sum, product, min, max, and/or of terms that may be regrouped", subject.definition_name());
  const bool is_specialized = std::any_of(subject.stage.definitions.begin(), subject.stage.definitions.end(), [&](const Definition& other) {
    return other.update == definition.update && !other.condition.empty();
  });
  if (is_specialized) return fmt::format("{} is specialized already; factor it first", subject.definition_name());
  if (definition.is_atomic || !definition.fetches.empty() || definition.companion.stage >= 0)
    return fmt::format("it is said already how {} runs; factor it first", subject.definition_name());
  for (const int id : definition.order)
    if (const LoopVariable& loop = definition.loop(id); loop.kind != LoopKind::serial)
      return fmt::format("a loop of {} is {} already; factor it first, then say how its loops run", subject.definition_name(), print(loop.kind));
  // A wrapper for one consumer is no wrapper for what is made of it.
  const std::string suffix = ".in(" + stage + ")";
  for (const StageLoops& other : subject.nest.stages())
    if (other.name.ends_with(suffix))
      return fmt::format("{} copies what {} reads, and its terms move to another stage; make the copy for that stage, below: {}.in({})", other.name, stage,
                         other.name.substr(0, other.name.size() - suffix.size()),
                         factored_name(stage, [&](const std::string& taken) { return subject.nest.find(taken) >= 0; }));
  return {};
}

// The loop and the name in arguments i and i + 1.
std::string read_pair(const Subject& subject, std::size_t i, std::vector<Kept>& kept) {
  const std::string &loop = subject.word(i), &name = subject.word(i + 1);
  const Definition& definition = subject.definition;
  const int id = definition.find(loop);
  if (id < 0) return no_such_loop(subject, loop);
  if (!definition.loop(id).is_reduction) return fmt::format("'{}' is a pure loop; only reduction loops hold partial sums", loop);
  if (name.find_first_of(".#(") != std::string::npos) return fmt::format("'{}' cannot name a new loop; write one word of letters, digits and _", name);
  if (definition.find(name) >= 0 || subject.stage.dimension(name) >= 0)
    return fmt::format("{} has a loop '{}' already; choose another name", subject.definition_name(), name);
  for (const Kept& other : kept) {
    if (other.variable == id) return fmt::format("'{}' is named twice", loop);
    if (other.name == name) return fmt::format("two new loops would be called '{}'; give them different names", name);
  }
  kept.push_back({id, name});
  return {};
}

}  // namespace

std::string factor_reduction(Subject& subject) {
  if (std::string why = refuse_definition(subject); !why.empty()) return why;
  std::vector<Kept> kept;
  for (std::size_t i = 0; i + 1 < subject.count(); i += 2)
    if (std::string why = read_pair(subject, i, kept); !why.empty()) return why;
  const auto reductions = std::count_if(subject.definition.order.begin(), subject.definition.order.end(),
                                        [&](int id) { return subject.definition.loop(id).is_reduction; });
  if (static_cast<std::size_t>(reductions) == kept.size())
    return fmt::format("no reduction loop would be left for the partial sums, each of which would hold one term; split '{}' and name the outer part",
                       subject.word(0));
  std::string why = claim_effect(subject, NumericsEffect::partial_sums, fmt::format("it keeps several partial sums of '{}'", subject.word(0)),
                                 "its reduction loops may be split, but neither regrouped nor reordered");
  if (why.empty()) Factoring(subject, std::move(kept)).run();
  return why;
}

}  // namespace kiln
