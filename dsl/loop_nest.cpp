#include "dsl/loop_nest.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/directive.h"
#include "dsl/error.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

constexpr std::string_view kInputSuffix = ".in";

Definition first_loops(const DefinitionFacts& facts) {
  Definition definition;
  definition.facts = &facts;
  for (std::size_t i = 0; i < facts.loops.size(); ++i) {
    const LoopFacts& loop = facts.loops[i];
    definition.variables.push_back({loop.name, LoopKind::serial, loop.is_reduction, loop.is_ordered, std::uint64_t{1} << (i % 64), loop.constant,
                                    kNoDirective});
    definition.order.push_back(static_cast<int>(i));
  }
  for (const Use& use : facts.uses) definition.producers.push_back(use.producer);
  return definition;
}

// An input's wrapper `A.in` is referred to as `A.in()`.
std::string reference_to(const std::string& stage) {
  return std::string_view(stage).ends_with(kInputSuffix) ? stage + "()" : stage;
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

}  // namespace

std::string_view print(LoopKind kind) {
  switch (kind) {
    case LoopKind::serial: return "serial";
    case LoopKind::parallel: return "parallel";
    case LoopKind::vectorized: return "vectorized";
    case LoopKind::unrolled: return "unrolled";
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

LoopNest::LoopNest(const AlgorithmFacts& facts) : facts_(facts) {
  stages_.reserve(facts.stages.size() + 4);
  for (const StageFacts& known : facts.stages) {
    StageLoops stage;
    stage.name = reference_to(known.stage->name);
    stage.facts = &known;
    for (const DefinitionFacts& definition : known.definitions) stage.definitions.push_back(first_loops(definition));
    stage.bounds.resize(known.stage->loops.size());
    stage.is_aligned.resize(known.stage->loops.size());
    if (known.is_output) stage.compute.kind = Level::Kind::root;
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
  const std::string& name = stages_[static_cast<std::size_t>(wrapped)].name;
  if (!is_read) {
    why_not = consumer < 0 ? fmt::format("no stage reads {}, so a wrapper of it would hold nothing", name)
                           : fmt::format("{} does not read {}; the stages that do are {}", stages_[static_cast<std::size_t>(consumer)].name, name,
                                         listed(readers));
    return -1;
  }
  wrapper_facts_.push_back(copy_of(stages_[static_cast<std::size_t>(wrapped)], wrapped));
  StageLoops wrapper;
  wrapper.name = reference;
  wrapper.facts = stages_[static_cast<std::size_t>(wrapped)].facts;
  wrapper.wraps = wrapped;
  wrapper.definitions.push_back(first_loops(wrapper_facts_.back()));
  wrapper.bounds.resize(wrapper.loops().size());
  wrapper.is_aligned.resize(wrapper.loops().size());
  stages_.push_back(std::move(wrapper));
  return index;
}

std::vector<int> LoopNest::consumers_first() const {
  std::vector<int> order;
  const int own = static_cast<int>(facts_.stages.size());
  for (int i = own - 1; i >= 0; --i) {
    for (int w = own; w < static_cast<int>(stages_.size()); ++w)
      if (stages_[static_cast<std::size_t>(w)].wraps == i) order.push_back(w);
    order.push_back(i);
  }
  return order;
}

std::string Subject::definition_name() const {
  return directive.update < 0 ? stage.name : fmt::format("update({}) of {}", directive.update, stage.name);
}

}  // namespace kiln
