#include "dsl/loop_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dsl/directive.h"
#include "dsl/error.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

constexpr std::string_view kInputSuffix = ".in";

// An input's wrapper `A.in` is referred to as `A.in()`.
std::string reference_to(const std::string& stage) {
  return std::string_view(stage).ends_with(kInputSuffix) ? stage + "()" : stage;
}

// A stage without its directives.
StageLoops first_stage(std::string name, const StageFacts& facts) {
  StageLoops stage;
  stage.name = std::move(name);
  stage.facts = &facts;
  const std::size_t rank = facts.stage->loops.size();
  stage.folds.resize(rank);
  stage.bounds.resize(rank);
  stage.is_aligned.resize(rank);
  stage.stores_output = facts.is_output;
  if (facts.is_output) stage.compute.kind = Level::Kind::root;
  return stage;
}

DefinitionFacts copy_of(const StageLoops& wrapped, int index) {
  DefinitionFacts facts;
  Use use;
  use.producer = index;
  for (const std::string& loop : wrapped.loops()) {
    const int place = static_cast<int>(facts.loops.size());
    facts.loops.push_back({loop, false, false, std::nullopt});
    facts.pure_loop.push_back(place);
    IndexForm form;
    form.terms = {{place, 1.0}};
    use.dimensions.push_back({form});
  }
  facts.uses.push_back(std::move(use));
  return facts;
}

void visit_producers_first(const std::deque<StageLoops>& stages, int stage, std::vector<bool>& seen, std::vector<int>& order) {
  if (seen[static_cast<std::size_t>(stage)]) return;
  seen[static_cast<std::size_t>(stage)] = true;
  for (const Definition& definition : stages[static_cast<std::size_t>(stage)].definitions)
    for (const int producer : definition.producers) visit_producers_first(stages, producer, seen, order);
  order.push_back(stage);
}

}  // namespace

Definition first_loops(const DefinitionFacts& facts, int update) {
  Definition definition;
  definition.facts = &facts;
  definition.update = update;
  for (std::size_t i = 0; i < facts.loops.size(); ++i) {
    const LoopFacts& loop = facts.loops[i];
    definition.variables.push_back({.name = loop.name, .is_reduction = loop.is_reduction, .is_ordered = loop.is_ordered,
                                    .roots = std::uint64_t{1} << (i % 64), .constant = loop.constant});
    definition.order.push_back(static_cast<int>(i));
  }
  for (const Use& use : facts.uses) definition.producers.push_back(use.producer);
  return definition;
}

std::string factored_name(const std::string& reduced, const std::function<bool(const std::string&)>& is_taken) {
  const std::string base = reduced.substr(0, reduced.find('#')) + "_intm";
  if (!is_taken(base)) return base;
  for (int n = 2;; ++n)
    if (std::string name = fmt::format("{}#{}", base, n); !is_taken(name)) return name;
}

std::string_view print(LoopKind kind) {
  switch (kind) {
    case LoopKind::serial: return "serial";
    case LoopKind::parallel: return "parallel";
    case LoopKind::vectorized: return "vectorized";
    case LoopKind::unrolled: return "unrolled";
    case LoopKind::gpu_block: return "spread over blocks";
    case LoopKind::gpu_thread: return "spread over threads";
  }
  return "";
}

Tail tail_of(std::string_view name) {
  const std::vector<std::string>& names = tail_strategies();  // in the order of the enumeration
  const auto found = std::find(names.begin(), names.end(), name);
  KILN_CHECK(found != names.end(), "no tail strategy '" + std::string(name) + "'");
  return static_cast<Tail>(found - names.begin());
}

int Definition::find(std::string_view name) const {
  for (const int variable : order)
    if (variables[static_cast<std::size_t>(variable)].name == name) return variable;
  return -1;
}

int Definition::place(int variable) const {
  const auto found = std::find(order.begin(), order.end(), variable);
  return found == order.end() ? -1 : static_cast<int>(found - order.begin());
}

int StageLoops::dimension(std::string_view loop) const {
  const auto found = std::find(loops().begin(), loops().end(), loop);
  return found == loops().end() ? -1 : static_cast<int>(found - loops().begin());
}

int StageLoops::updates() const { return wraps >= 0 ? 0 : static_cast<int>(facts->definitions.size()) - 1; }

const Definition* StageLoops::find(int update, const std::string& condition) const {
  for (const Definition& definition : definitions)
    if (definition.update == update && definition.condition == condition) return &definition;
  return nullptr;
}

Definition* StageLoops::find(int update, const std::string& condition) {
  return const_cast<Definition*>(std::as_const(*this).find(update, condition));
}

LoopNest::LoopNest(const AlgorithmFacts& facts) : facts_(facts) {
  for (const StageFacts& known : facts.stages) {
    StageLoops stage = first_stage(reference_to(known.stage->name), known);
    for (std::size_t d = 0; d < known.definitions.size(); ++d) stage.definitions.push_back(first_loops(known.definitions[d], static_cast<int>(d) - 1));
    stages_.push_back(std::move(stage));
  }
}

int LoopNest::find(const std::string& reference) const {
  for (std::size_t i = 0; i < stages_.size(); ++i)
    if (stages_[i].name == reference) return static_cast<int>(i);
  return -1;
}

std::string LoopNest::stage_names() const {
  std::vector<std::string> names;
  for (const StageLoops& stage : stages_)
    if (stage.wraps < 0) names.push_back(stage.name);
  return listed(names);
}

int LoopNest::refer(const std::string& reference, std::string& why_not) {
  if (const int known = find(reference); known >= 0) return known;
  const std::size_t bracket = reference.find(".in(");
  const std::string base = reference.substr(0, bracket);
  // `B.in(c)` of an input wraps the input's stage once more; `f.in(…)` wraps the stage f.
  int wrapped = find(base);
  if (wrapped < 0) wrapped = find(base + ".in()");
  if (wrapped < 0) {
    std::vector<std::string> names;
    for (const StageLoops& stage : stages_) names.push_back(stage.name);
    const std::string near = nearest(base, names);
    why_not = fmt::format("there is no stage '{}'{}; the stages of {} are {}", base, near.empty() ? "" : fmt::format(", did you mean '{}'", near),
                          facts_.algorithm->generator, stage_names());
    return -1;
  }
  if (bracket == std::string::npos) {
    why_not = fmt::format("'{0}' is an input; the stage that reads it is {0}.in()", base);
    return -1;
  }
  const std::string reader = reference.substr(bracket + 4, reference.size() - bracket - 5);
  int consumer = -1;
  if (!reader.empty() && (consumer = find(reader)) < 0) {
    why_not = fmt::format("there is no stage '{}' to wrap {} for; the stages are {}", reader, base, stage_names());
    return -1;
  }
  return make_wrapper(reference, wrapped, consumer, why_not);
}

// The reads of `wrapped` (by one consumer, or by all that read it still) go through a copy of it.
int LoopNest::make_wrapper(const std::string& reference, int wrapped, int consumer, std::string& why_not) {
  const int index = static_cast<int>(stages_.size());
  std::vector<std::string> readers;
  bool is_read = false;
  for (int i = 0; i < index; ++i) {
    StageLoops& stage = stages_[static_cast<std::size_t>(i)];
    if (i == wrapped || stage.wraps == wrapped) continue;
    for (Definition& definition : stage.definitions) {
      for (int& producer : definition.producers) {
        // A wrapper for one consumer takes its read back from the wrapper for all.
        const bool reads = producer == wrapped || (stages_[static_cast<std::size_t>(producer)].wraps == wrapped && consumer >= 0);
        if (!reads) continue;
        if (readers.empty() || readers.back() != stage.name) readers.push_back(stage.name);
        if (consumer >= 0 && consumer != i) continue;
        producer = index;
        is_read = true;
      }
    }
  }
  StageLoops& original = stages_[static_cast<std::size_t>(wrapped)];
  const std::string& name = original.name;
  // Sums that end in the caller's buffer have no other place to be kept in: a wrapper then stores the output, and what it wraps is a stage like others.
  const bool stores_output = !is_read && consumer < 0 && original.stores_output && original.updates() > 0;
  if (!is_read && !stores_output) {
    why_not = consumer < 0 ? fmt::format("no stage reads {}, so a wrapper of it would hold nothing", name)
                           : fmt::format("{} does not read {}; the stages that do are {}", stages_[static_cast<std::size_t>(consumer)].name, name,
                                         listed(readers));
    return -1;
  }
  made_facts_.push_back(copy_of(stages_[static_cast<std::size_t>(wrapped)], wrapped));
  StageLoops wrapper = first_stage(reference, *stages_[static_cast<std::size_t>(wrapped)].facts);
  wrapper.wraps = wrapped;
  wrapper.compute = {};
  wrapper.stores_output = stores_output;
  if (stores_output) std::swap(wrapper.compute, original.compute);
  original.stores_output = original.stores_output && !stores_output;
  wrapper.definitions.push_back(first_loops(made_facts_.back(), -1));
  stages_.push_back(std::move(wrapper));
  return index;
}

const DefinitionFacts& LoopNest::keep(DefinitionFacts facts) {
  made_facts_.push_back(std::move(facts));
  return made_facts_.back();
}

StageLoops& LoopNest::add_factored(const StageLoops& reduced, StageFacts facts) {
  const std::string name = factored_name(reduced.name, [&](const std::string& taken) { return find(taken) >= 0; });
  Stage stage;
  stage.name = name;
  stage.types = facts.stage->types;
  for (const LoopFacts& loop : facts.definitions.front().loops) stage.loops.push_back(loop.name);
  factored_stages_.push_back(std::move(stage));
  facts.stage = &factored_stages_.back();
  factored_facts_.push_back(std::move(facts));
  stages_.push_back(first_stage(name, factored_facts_.back()));
  return stages_.back();
}

std::vector<int> LoopNest::consumers_first() const {
  std::vector<int> order;
  std::vector<bool> seen(stages_.size(), false);
  for (int i = 0; i < static_cast<int>(stages_.size()); ++i) visit_producers_first(stages_, i, seen, order);
  std::reverse(order.begin(), order.end());
  return order;
}

std::string no_such_update(const StageLoops& stage) {
  const int updates = stage.updates();
  if (updates == 0) return fmt::format("{} has no updates", stage.name);
  return fmt::format("{} has {} update{}: update(0){}", stage.name, updates, updates == 1 ? "" : "s",
                     updates == 1 ? "" : fmt::format(" to update({})", updates - 1));
}

DefinitionName split_definition_name(const std::string& word) {
  constexpr std::string_view kUpdate = ".update(";
  const std::size_t at = word.find(kUpdate);
  if (at == std::string::npos) return {word, -1};
  const auto update = parse_integer(std::string_view(word).substr(at + kUpdate.size(), word.size() - at - kUpdate.size() - 1));
  KILN_CHECK(update.has_value(), "'" + word + "' names no definition");
  return {word.substr(0, at), static_cast<int>(*update)};
}

std::string name_of(const StageLoops& stage, const Definition& definition) {
  return definition.update < 0 ? stage.name : fmt::format("update({}) of {}", definition.update, stage.name);
}

}  // namespace kiln
