#include "dsl/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dsl/directive.h"
#include "dsl/directives/all.h"
#include "dsl/error.h"

namespace kiln {
namespace {

constexpr std::string_view kWrapper = ".in(";

// The stages of a pipeline by the references that directives use; makes the wrappers among them.
class Stages {
 public:
  explicit Stages(Pipeline& pipeline) : pipeline_(pipeline) {}

  Halide::Func& refer(const std::string& reference) {
    const auto known = wrappers_.find(reference);
    if (known != wrappers_.end()) return known->second;
    const std::size_t bracket = reference.find(kWrapper);
    if (bracket == std::string::npos) return stage(reference);
    const std::string base = reference.substr(0, bracket);
    const std::string consumer = reference.substr(bracket + kWrapper.size(), reference.size() - bracket - kWrapper.size() - 1);
    const bool is_stage = pipeline_.stages.contains(base);
    // `A.in()` of an input is the stage that reads it, which the pipeline has already.
    if (!is_stage && consumer.empty()) return stage(base + ".in");
    Halide::Func& wrapped = stage(is_stage ? base : base + ".in");
    Halide::Func wrapper = consumer.empty() ? wrapped.in() : wrapped.in(stage(consumer));
    return wrappers_.emplace(reference, wrapper).first->second;
  }

 private:
  Halide::Func& stage(const std::string& name) {
    const auto found = pipeline_.stages.find(name);
    if (found == pipeline_.stages.end()) throw ScheduleError(fmt::format("there is no stage '{}'", name));
    return found->second;
  }

  Pipeline& pipeline_;
  std::map<std::string, Halide::Func> wrappers_;
};

// One directive's arguments as Halide's types; dsl/directives/*.h speak to this.
class Calls {
 public:
  Calls(const Directive& directive, Stages& stages)
      : directive_(directive),
        stages_(stages),
        function_(stages.refer(directive.stage)),
        definition_(directive.update < 0 ? Halide::Stage(function_) : function_.update(directive.update)) {}

  std::size_t count() const { return directive_.arguments.size(); }
  Halide::Func& function() { return function_; }
  Halide::Stage& definition() { return definition_; }

  Halide::VarOrRVar loop(std::size_t i) const { return {halide_name(word(i)), is_reduction(word(i))}; }

  // A new loop is of the same sort as the one it comes from.
  Halide::VarOrRVar new_loop(std::size_t i, std::size_t from) const { return {halide_name(word(i)), is_reduction(word(from))}; }

  // Splits loop 0 by number 1 with tail 2 and returns the new inner loop. Halide's own two-argument forms draw a fresh name such as `v0`, which an
  // algorithm's unnamed loop may have already. A loop may be split so several times: vectorize(n, 16).unroll(n, 4).
  Halide::VarOrRVar split_off_inner() {
    const Halide::VarOrRVar outer = loop(0);
    const Halide::VarOrRVar inner(outer.name() + "$" + std::to_string(definition_.get_schedule().splits().size()), outer.is_rvar);
    definition_.split(outer, outer, inner, number(1), tail(2));
    return inner;
  }

  std::vector<Halide::VarOrRVar> loops() const {
    std::vector<Halide::VarOrRVar> all;
    for (std::size_t i = 0; i < count(); ++i) all.push_back(loop(i));
    return all;
  }

  Halide::Var variable(std::size_t i) const { return Halide::Var(halide_name(word(i))); }

  std::vector<Halide::Var> variables() const {
    std::vector<Halide::Var> all;
    for (std::size_t i = 0; i < count(); ++i) all.push_back(variable(i));
    return all;
  }

  Halide::Expr number(std::size_t i) const { return Halide::Expr(static_cast<std::int32_t>(std::get<std::int64_t>(directive_.arguments[i]))); }

  Halide::TailStrategy tail(std::size_t i) const {
    using Halide::TailStrategy;
    switch (i < count() ? tail_of(word(i)) : Tail::automatic) {
      case Tail::automatic: return TailStrategy::Auto;
      case Tail::round_up: return TailStrategy::RoundUp;
      case Tail::guard_with_if: return TailStrategy::GuardWithIf;
      case Tail::predicate: return TailStrategy::Predicate;
      case Tail::predicate_loads: return TailStrategy::PredicateLoads;
      case Tail::predicate_stores: return TailStrategy::PredicateStores;
      case Tail::shift_inwards: return TailStrategy::ShiftInwards;
      case Tail::shift_inwards_and_blend: return TailStrategy::ShiftInwardsAndBlend;
      case Tail::round_up_and_blend: return TailStrategy::RoundUpAndBlend;
    }
    return TailStrategy::Auto;
  }

  Halide::MemoryType memory(std::size_t i) const {
    if (word(i) == "Heap") return Halide::MemoryType::Heap;
    if (word(i) == "Stack") return Halide::MemoryType::Stack;
    return Halide::MemoryType::Auto;
  }

  // The stage and loop in arguments i and i + 1.
  Halide::LoopLevel level(std::size_t i) {
    Halide::Func& host = stages_.refer(word(i));
    const std::string& name = word(i + 1);
    bool reduces = !has_loop(Halide::Stage(host), name, false);
    return Halide::LoopLevel(host, Halide::VarOrRVar(halide_name(name), reduces));
  }

 private:
  const std::string& word(std::size_t i) const { return std::get<std::string>(directive_.arguments[i]); }

  // Halide's own rule for names: a loop that came from others is called `old.new`.
  static bool has_loop(const Halide::Stage& definition, const std::string& name, bool reduces) {
    const std::string plain = halide_name(name), suffix = "." + plain;
    const auto& dims = definition.get_schedule().dims();
    return std::any_of(dims.begin(), dims.end(), [&](const Halide::Internal::Dim& dim) {
      return dim.is_rvar() == reduces && (dim.var == plain || std::string_view(dim.var).ends_with(suffix));
    });
  }

  bool is_reduction(const std::string& name) const { return has_loop(definition_, name, true); }

  const Directive& directive_;
  Stages& stages_;
  Halide::Func& function_;
  Halide::Stage definition_;
};

using Apply = void (*)(Calls&);

template <typename... Directives>
std::map<std::string_view, Apply> make_table(directive::List<Directives...>) {
  return {{Directives::spec().name, &Directives::template apply<Calls>}...};
}

void apply_one(const Directive& directive, Stages& stages) {
  static const std::map<std::string_view, Apply> kTable = make_table(directive::Applied{});
  const auto found = kTable.find(directive.name);
  if (found == kTable.end()) throw ScheduleError(fmt::format("`{}` cannot be applied: it stands alone in a schedule", print(directive)));
  Calls calls(directive, stages);
  found->second(calls);
}

// The wrappers that a directive names.
void make_wrappers(const Directive& directive, Stages& stages) {
  stages.refer(directive.stage);
  const DirectiveSpec* spec = find_directive(directive.name);
  const Signature* signature = spec ? match_signature(*spec, directive.arguments) : nullptr;
  if (!signature) return;
  for (std::size_t i = 0; i < signature->parameters.size(); ++i)
    if (signature->parameters[i].kind == ParameterKind::stage) stages.refer(std::get<std::string>(directive.arguments[i]));
}

template <typename Step>
void for_each_directive(const Schedule& schedule, const Step& step) {
  for (const Directive& directive : schedule.directives) {
    try {
      step(directive);
    } catch (const Halide::Error& error) {
      std::string words = error.what();
      while (!words.empty() && words.back() == '\n') words.pop_back();
      throw ScheduleError(fmt::format("`{}`: {}", print(directive), words));
    }
  }
}

}  // namespace

void apply(const Schedule& schedule, Pipeline& pipeline) {
  Stages stages(pipeline);
  // Wrappers first: they add stages, and a loop level may name one that a later line schedules.
  for_each_directive(schedule, [&](const Directive& directive) { make_wrappers(directive, stages); });
  for_each_directive(schedule, [&](const Directive& directive) { apply_one(directive, stages); });
}

}  // namespace kiln
