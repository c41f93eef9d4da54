#include "dsl/legality.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dsl/companions.h"
#include "dsl/directive.h"
#include "dsl/error.h"
#include "dsl/fetches.h"
#include "dsl/loop_nest.h"
#include "dsl/placement.h"
#include "dsl/tails.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

// Keeps the complaint about the earliest directive.
class First {
 public:
  void offer(std::size_t directive, std::string message) {
    if (!found_ || directive < found_->directive) found_ = Illegal{directive, std::move(message)};
  }
  void offer(std::optional<Illegal> illegal) {
    if (illegal) offer(illegal->directive, std::move(illegal->message));
  }
  std::optional<Illegal> take() { return std::move(found_); }

 private:
  std::optional<Illegal> found_;
};

class Reader {
 public:
  Reader(LoopNest& nest, const Schedule& schedule) : schedule_(schedule), nest_(nest) {}

  // The message without the directive's text.
  std::optional<Illegal> find() {
    plan_factored();
    for (std::size_t i = 0; i < schedule_.directives.size(); ++i)
      if (std::string why = read_names(i); !why.empty()) return Illegal{i, std::move(why)};
    for (std::size_t i = 0; i < schedule_.directives.size(); ++i)
      if (std::string why = rewrite(i); !why.empty()) return Illegal{i, std::move(why), nest_.breaks_contract()};
    return check_whole();
  }

  NumericsEffect effect() const { return nest_.effect(); }

 private:
  // The stages that rfactor will make, by name.
  void plan_factored() {
    const auto is_taken = [&](const std::string& name) { return nest_.find(name) >= 0 || planned_.contains(name); };
    for (std::size_t i = 0; i < schedule_.directives.size(); ++i)
      if (schedule_.directives[i].name == "rfactor") planned_.emplace(factored_name(schedule_.directives[i].stage, is_taken), i);
  }

  // The directive that makes the stage that a reference, or the wrapper it names, is about; nothing when the algorithm has it.
  std::optional<std::size_t> maker_of(const std::string& reference) const {
    const std::size_t bracket = reference.find(".in(");
    const auto base = planned_.find(reference.substr(0, bracket));
    if (base != planned_.end()) return base->second;
    if (bracket == std::string::npos) return std::nullopt;
    const auto reader = planned_.find(reference.substr(bracket + 4, reference.size() - bracket - 5));
    return reader == planned_.end() ? std::nullopt : std::optional(reader->second);
  }

  // A wrapper exists for the whole schedule, wherever it is first named: Halide wants them made before anything else. What rfactor makes, and its
  // wrappers, exist from the line of rfactor on.
  std::string read_names(std::size_t i) {
    const Directive& directive = schedule_.directives[i];
    if (directive.stage.empty()) return fmt::format("{} stands alone in a schedule", directive.name);
    if (std::string why = refer(directive.stage, i, false); !why.empty()) return why;
    const DirectiveSpec* spec = find_directive(directive.name);
    if (!spec) return fmt::format("there is no directive '{}'", directive.name);
    if (const auto mismatch = explain_mismatch(*spec, directive.arguments)) return mismatch->text;
    specs_.push_back(spec);
    return read_arguments(i, false);
  }

  std::string read_arguments(std::size_t i, bool is_due) {
    const Directive& directive = schedule_.directives[i];
    const Signature& signature = *match_signature(*specs_[i], directive.arguments);
    for (std::size_t a = 0; a < signature.parameters.size(); ++a) {
      const ParameterKind kind = signature.parameters[a].kind;
      if (kind != ParameterKind::stage && kind != ParameterKind::definition && kind != ParameterKind::buffer) continue;
      const std::string stage = split_definition_name(std::get<std::string>(directive.arguments[a])).stage;
      if (kind == ParameterKind::buffer && nest_.find(stage) < 0 && nest_.find(stage + ".in()") >= 0) continue;  // an input
      if (std::string why = refer(stage, i, is_due); !why.empty()) return why;
    }
    return {};
  }

  // `is_due`: the directives before it have been read, so that what they make exists.
  std::string refer(const std::string& reference, std::size_t i, bool is_due) {
    const auto maker = maker_of(reference);
    if (maker && !is_due) return {};
    if (maker && *maker >= i) return fmt::format("'{}' is made by `{}`, which must stand above", reference, print(schedule_.directives[*maker]));
    std::string why;
    return nest_.refer(reference, why) < 0 ? why : "";
  }

  std::string rewrite(std::size_t i) {
    const Directive& directive = schedule_.directives[i];
    if (std::string why = refer(directive.stage, i, true); !why.empty()) return why;
    if (std::string why = read_arguments(i, true); !why.empty()) return why;
    stages_.push_back(nest_.find(directive.stage));
    StageLoops& stage = nest_.stages()[static_cast<std::size_t>(stages_[i])];
    if (specs_[i]->is_pure_only && directive.update >= 0)
      return fmt::format("{0} belongs to the whole stage, not to an update: write {1}.{0}(…)", directive.name, stage.name);
    if (specs_[i]->is_pure_only && !directive.condition.empty())
      return fmt::format("{0} belongs to the whole stage, not to a specialization: write {1}.{0}(…)", directive.name, stage.name);
    if (directive.update >= stage.updates()) return no_such_update(stage);
    Definition* definition = stage.find(directive.update, directive.condition);
    if (definition == nullptr)
      return fmt::format("{} has no specialization for {} yet; write specialize({}) first", stage.name, directive.condition, directive.condition);
    Subject subject{directive, i, nest_, stage, *definition};
    return specs_[i]->rewrite(subject);
  }

  std::optional<Illegal> check_whole() {
    First first;
    check_inlined(first);
    is_fixed_.assign(nest_.stages().size(), false);
    first.offer(find_misplaced(nest_));
    for (std::size_t s = 0; s < nest_.stages().size(); ++s) {
      if (nest_.stages()[s].is_inlined()) continue;
      fix_constants(static_cast<int>(s));
      for (const Definition& definition : nest_.stages()[s].definitions) {
        check_marks(nest_.stages()[s], definition, first);
        check_parallel_inside_vector(definition, first);
      }
    }
    first.offer(find_overrun(nest_));
    first.offer(find_misfetched(nest_));
    first.offer(find_unfit_companion(nest_));
    return first.take();
  }

  // The loops and the storage of an inlined stage do not exist.
  void check_inlined(First& first) const {
    for (std::size_t i = 0; i < schedule_.directives.size(); ++i) {
      const StageLoops& stage = nest_.stages()[static_cast<std::size_t>(stages_[i])];
      if (!stage.is_inlined() || schedule_.directives[i].name == "compute_inline") continue;
      first.offer(i, fmt::format("{} is inlined where it is read, so it has neither loops nor storage; give it compute_root() or "
                                 "compute_at(stage, loop)",
                                 stage.name));
      return;
    }
  }

  // Sets the iterations that become known through the place of a stage, and what follows for its parts.
  void fix_constants(int s) {
    StageLoops& stage = nest_.stages()[static_cast<std::size_t>(s)];
    if (is_fixed_[static_cast<std::size_t>(s)]) return;
    const auto needs_constants = [](const Definition& definition) {
      return std::any_of(definition.order.begin(), definition.order.end(), [&](int id) {
        const LoopVariable& loop = definition.variables[static_cast<std::size_t>(id)];
        return !loop.constant && (loop.kind == LoopKind::vectorized || loop.kind == LoopKind::unrolled);
      });
    };
    if (std::any_of(stage.definitions.begin(), stage.definitions.end(), needs_constants)) fix_all(s);
  }

  // The stage whose loop encloses it first: how far its parts reach depends on how far it reaches itself.
  void fix_all(int s) {
    StageLoops& stage = nest_.stages()[static_cast<std::size_t>(s)];
    is_fixed_[static_cast<std::size_t>(s)] = true;
    if (stage.compute.kind == Level::Kind::at && !is_fixed_[static_cast<std::size_t>(stage.compute.stage)]) fix_all(stage.compute.stage);
    const auto extents = constant_extents(nest_, s);
    for (Definition& definition : stage.definitions) {
      for (std::size_t d = 0; d < extents.size(); ++d)
        if (const int loop = definition.facts->pure_loop[d]; loop >= 0 && extents[d]) definition.variables[static_cast<std::size_t>(loop)].constant = extents[d];
      for (const LoopRewrite& rewrite : definition.rewrites) pass_on(definition, rewrite);
    }
  }

  static void pass_on(Definition& definition, const LoopRewrite& rewrite) {
    auto& old = definition.variables[static_cast<std::size_t>(rewrite.old)].constant;
    auto& outer = definition.variables[static_cast<std::size_t>(rewrite.outer)].constant;
    auto& inner = definition.variables[static_cast<std::size_t>(rewrite.inner)].constant;
    if (rewrite.kind == LoopRewrite::Kind::split) {
      if (old) outer = (*old + rewrite.factor - 1) / rewrite.factor;
    } else if (outer && inner) {
      old = *outer * *inner;
    }
  }

  void check_marks(const StageLoops& stage, const Definition& definition, First& first) const {
    std::size_t last = 0;
    const auto lanes = count_marked(stage, definition, LoopKind::vectorized, first, last);
    const auto copies = count_marked(stage, definition, LoopKind::unrolled, first, last);
    if (!lanes || !copies) return;
    if (*lanes > kMostLanes) first.offer(last, fmt::format("{} would compute {} lanes at once; at most {} are allowed", stage.name, *lanes, kMostLanes));
    if (*copies > kMostCopies)
      first.offer(last, fmt::format("{} would hold {} copies of its body; at most {} are allowed", stage.name, *copies, kMostCopies));
    if (*lanes * *copies > kMostElements)
      first.offer(last, fmt::format("{} would hold {} copies of {} lanes, {} elements in one body; at most {} are allowed", stage.name, *copies, *lanes,
                                    *lanes * *copies, kMostElements));
  }

  // The product over the loops of one kind, each of which must be known while compiling; `last`: the last directive that marked one.
  static std::optional<std::int64_t> count_marked(const StageLoops& stage, const Definition& definition, LoopKind kind, First& first,
                                                  std::size_t& last) {
    std::int64_t product = 1;
    bool is_known = true;
    const bool is_vector = kind == LoopKind::vectorized;
    for (const int id : definition.order) {
      const LoopVariable& loop = definition.variables[static_cast<std::size_t>(id)];
      if (loop.kind != kind) continue;
      last = std::max(last, loop.marked_by);
      if (!loop.constant) {
        is_known = false;
        first.offer(loop.marked_by, fmt::format("how often loop '{}' of {} runs is not known while compiling; give it a factor, as in {}({}, {})",
                                                loop.name, stage.name, is_vector ? "vectorize" : "unroll", loop.name, is_vector ? 8 : 4));
        continue;
      }
      if (is_vector && *loop.constant < 2)
        first.offer(loop.marked_by, fmt::format("a vector needs at least 2 lanes, but loop '{}' of {} runs once there", loop.name, stage.name));
      constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // two of these still multiply
      product = std::min(product * std::min(*loop.constant, kLargest), kLargest);
    }
    if (!is_known) return std::nullopt;
    return product;
  }

  static void check_parallel_inside_vector(const Definition& definition, First& first) {
    const LoopVariable* parallel = nullptr;  // met further in
    for (const int id : definition.order) {
      const LoopVariable& loop = definition.variables[static_cast<std::size_t>(id)];
      if (loop.kind == LoopKind::parallel) parallel = &loop;
      if (loop.kind == LoopKind::vectorized && parallel)
        first.offer(std::max(loop.marked_by, parallel->marked_by),
                    fmt::format("the parallel loop '{}' would run inside a vectorized loop; reorder the vectorized one further in", parallel->name));
    }
  }

  const Schedule& schedule_;
  LoopNest& nest_;
  std::map<std::string, std::size_t> planned_;  // stages that rfactor makes -> the directive
  std::vector<int> stages_;                     // by directive
  std::vector<const DirectiveSpec*> specs_;     // by directive
  std::vector<bool> is_fixed_;  // by stage: its constants are set
};

// With the directive's text before the message.
std::optional<Illegal> named(const Schedule& schedule, std::optional<Illegal> illegal) {
  if (illegal) illegal->message = fmt::format("`{}`: {}", print(schedule.directives[illegal->directive]), illegal->message);
  return illegal;
}

std::optional<Illegal> find(const Schedule& schedule, const AlgorithmFacts& facts) {
  std::optional<Illegal> illegal;
  if (schedule.is_opaque()) {
    const Directive& directive = schedule.directives.front();
    const DirectiveSpec* spec = find_directive(directive.name);
    std::string why;
    if (!spec || !spec->is_opaque) {
      why = "it names no stage";
    } else if (const auto mismatch = explain_mismatch(*spec, directive.arguments)) {
      why = mismatch->text;
    } else {
      why = spec->refuse_alone(directive, *facts.algorithm);
    }
    if (!why.empty()) illegal = Illegal{0, why};
  } else {
    LoopNest nest(facts);
    return rewrite_loops(nest, schedule);
  }
  return named(schedule, std::move(illegal));
}

}  // namespace

std::optional<Illegal> rewrite_loops(LoopNest& nest, const Schedule& schedule) { return named(schedule, Reader(nest, schedule).find()); }

std::optional<Illegal> find_illegal(const Schedule& schedule, const Algorithm& algorithm, const Problem* problem) {
  return find(schedule, facts_of(algorithm, problem));
}

void refuse(const Illegal& illegal) {
  if (illegal.breaks_contract) throw NumericsError(illegal.message);
  throw ScheduleError(illegal.message);
}

void require_legal(const Schedule& schedule, const Algorithm& algorithm, const Problem* problem) {
  if (const auto illegal = find_illegal(schedule, algorithm, problem)) refuse(*illegal);
}

Legality::Legality(const Algorithm& algorithm, const Problem* problem)
    : facts_(std::make_shared<const AlgorithmFacts>(facts_of(algorithm, problem))) {}

NumericsEffect effect_of(const Schedule& schedule, const Algorithm& algorithm) {
  if (schedule.is_opaque()) return NumericsEffect::unknown;
  const AlgorithmFacts facts = facts_of(algorithm, nullptr);
  LoopNest nest(facts);
  Reader reader(nest, schedule);
  reader.find();
  return reader.effect();
}

std::optional<Illegal> Legality::find_illegal(const Schedule& schedule) const { return find(schedule, *facts_); }

}  // namespace kiln
