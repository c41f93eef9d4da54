#include "dsl/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dsl/condition.h"
#include "dsl/directive.h"
#include "dsl/directives/all.h"
#include "dsl/error.h"
#include "dsl/loop_nest.h"

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
    Halide::Func wrapper = !consumer.empty() ? wrapped.in(stage(consumer)) : is_copied_out(base) ? copy_out(base) : wrapped.in();
    return wrappers_.emplace(reference, wrapper).first->second;
  }

  // Whether what a reference names is there: rfactor makes stages on the way.
  bool has(const std::string& reference) const {
    const std::size_t bracket = reference.find(kWrapper);
    const auto known = [&](const std::string& name) { return pipeline_.stages.contains(name) || pipeline_.stages.contains(name + ".in"); };
    if (!known(reference.substr(0, bracket))) return false;
    if (bracket == std::string::npos) return pipeline_.stages.contains(reference);
    const std::string consumer = reference.substr(bracket + kWrapper.size(), reference.size() - bracket - kWrapper.size() - 1);
    return consumer.empty() || known(consumer);
  }

  void add_factored(const std::string& reduced, Halide::Func partial) {
    const std::string name = factored_name(reduced, [&](const std::string& taken) { return pipeline_.stages.contains(taken); });
    pipeline_.stages.emplace(name, std::move(partial));
  }

  // A buffer argument.
  const Halide::Parameter& argument(const std::string& name) const {
    const auto input = pipeline_.inputs.find(name);
    return input == pipeline_.inputs.end() ? pipeline_.outputs.at(name) : input->second;
  }

 private:
  // An output with updates that no stage reads: its wrapper is what the caller's buffer gets.
  bool is_copied_out(const std::string& output) {
    if (std::ranges::find(pipeline_.output_stages, output) == pipeline_.output_stages.end()) return false;
    const Halide::Func& wrapped = stage(output);
    return wrapped.has_update_definition() && std::ranges::none_of(pipeline_.stages, [&](const auto& other) {
      return other.first != output && Halide::Internal::find_direct_calls(other.second.function()).contains(wrapped.name());
    });
  }

  Halide::Func copy_out(const std::string& output) {
    const Halide::Func wrapped = stage(output);
    const std::string name = output + ".in";
    Halide::Func copy(halide_name(name));
    const std::vector<Halide::Var> args = wrapped.args();
    const std::vector<Halide::Expr> loops(args.begin(), args.end());
    if (wrapped.outputs() == 1) {
      copy(args) = wrapped(loops);
    } else {
      copy(args) = Halide::Tuple(wrapped(loops));
    }
    std::vector<Halide::Func> outputs = pipeline_.pipeline.outputs();
    std::ranges::replace_if(outputs, [&](const Halide::Func& func) { return func.name() == wrapped.name(); }, copy);
    std::ranges::replace(pipeline_.output_stages, output, name);
    pipeline_.pipeline = Halide::Pipeline(outputs, pipeline_.pipeline.requirements());
    for (auto& [argument, parameter] : pipeline_.outputs) {
      for (int c = 0; c < wrapped.outputs(); ++c)
        if (parameter.same_as(wrapped.output_buffers()[static_cast<std::size_t>(c)].parameter()))
          parameter = copy.output_buffers()[static_cast<std::size_t>(c)].parameter();
    }
    pipeline_.stages.emplace(name, copy);
    return copy;
  }

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
        definition_(definition_at(function_, directive.update)) {
    if (!directive.condition.empty()) definition_ = definition_.specialize(condition(directive.condition));
  }

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

  Halide::LoopAlignStrategy align(std::size_t i) const {
    if (i >= count()) return Halide::LoopAlignStrategy::Auto;
    if (word(i) == "AlignStart") return Halide::LoopAlignStrategy::AlignStart;
    if (word(i) == "AlignEnd") return Halide::LoopAlignStrategy::AlignEnd;
    return word(i) == "NoAlign" ? Halide::LoopAlignStrategy::NoAlign : Halide::LoopAlignStrategy::Auto;
  }

  Halide::PrefetchBoundStrategy fetch_bounds(std::size_t i) const {
    if (i < count() && word(i) == "Clamp") return Halide::PrefetchBoundStrategy::Clamp;
    return i < count() && word(i) == "NonFaulting" ? Halide::PrefetchBoundStrategy::NonFaulting : Halide::PrefetchBoundStrategy::GuardWithIf;
  }

  Halide::Partition policy(std::size_t i) const { return word(i) == "Never" ? Halide::Partition::Never : Halide::Partition::Auto; }

  bool is_true(std::size_t i) const { return word(i) == "true"; }

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

  // The definition that argument i names: `c`, `c.update(0)`.
  Halide::Stage definition_of(std::size_t i) {
    const DefinitionName name = split_definition_name(word(i));
    return definition_at(stages_.refer(name.stage), name.update);
  }

  // Argument i is a stage, or an input by its name.
  void prefetch(std::size_t i, const Halide::VarOrRVar& at, const Halide::VarOrRVar& from, const Halide::Expr& offset, Halide::PrefetchBoundStrategy bounds) {
    if (stages_.has(word(i))) {
      definition_.prefetch(stages_.refer(word(i)), at, from, offset, bounds);
    } else {
      definition_.prefetch(stages_.argument(word(i)), at, from, offset, bounds);
    }
  }

  // Arguments: reduction loops that stay, each followed by its dimension where the partial sums are.
  void factor() {
    std::vector<std::pair<Halide::RVar, Halide::Var>> kept;
    for (std::size_t i = 0; i + 1 < count(); i += 2) kept.emplace_back(Halide::RVar(halide_name(word(i))), variable(i + 1));
    stages_.add_factored(directive_.stage, definition_.rfactor(kept));
  }

  void specialize(std::size_t i) { definition_.specialize(condition(word(i))); }

 private:
  const std::string& word(std::size_t i) const { return std::get<std::string>(directive_.arguments[i]); }

  static Halide::Stage definition_at(Halide::Func& function, int update) { return update < 0 ? Halide::Stage(function) : function.update(update); }

  Halide::Expr condition(const std::string& text) const {
    Halide::Expr all;
    for (const Clause& clause : clauses_of(text)) {
      const Halide::Parameter& argument = stages_.argument(clause.argument);
      Halide::Expr extent = Halide::Internal::Variable::make(Halide::Int(32), fmt::format("{}.extent.{}", argument.name(), clause.dimension), argument);
      if (clause.modulus > 0) extent = extent % static_cast<int>(clause.modulus);
      const Halide::Expr holds = compared(extent, clause.comparison, static_cast<int>(clause.number));
      all = all.defined() ? all && holds : holds;
    }
    return all;
  }

  static Halide::Expr compared(const Halide::Expr& extent, Comparison comparison, int number) {
    switch (comparison) {
      case Comparison::equal: return extent == number;
      case Comparison::not_equal: return extent != number;
      case Comparison::less: return extent < number;
      case Comparison::at_most: return extent <= number;
      case Comparison::greater: return extent > number;
      case Comparison::at_least: return extent >= number;
    }
    return {};
  }

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
  if (found == kTable.end()) {
    const DirectiveSpec* spec = find_directive(directive.name);
    const bool is_for_gpu = spec != nullptr && spec->is_for_gpu;
    throw ScheduleError(fmt::format("`{}` cannot be applied: {}", print(directive),
                                    is_for_gpu ? "only the CUDA back end runs it; on a CPU loops are parallel, vectorized or unrolled"
                                               : "it stands alone in a schedule"));
  }
  Calls calls(directive, stages);
  found->second(calls);
}

// The wrappers that a directive names, unless they are of a stage that rfactor will make.
void make_wrappers(const Directive& directive, Stages& stages) {
  const auto make = [&](const std::string& reference) {
    if (stages.has(reference)) stages.refer(reference);
  };
  make(directive.stage);
  const DirectiveSpec* spec = find_directive(directive.name);
  const Signature* signature = spec ? match_signature(*spec, directive.arguments) : nullptr;
  if (!signature) return;
  for (std::size_t i = 0; i < signature->parameters.size(); ++i) {
    const ParameterKind kind = signature->parameters[i].kind;
    if (kind == ParameterKind::stage || kind == ParameterKind::definition || kind == ParameterKind::buffer)
      make(split_definition_name(std::get<std::string>(directive.arguments[i])).stage);
  }
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
