#include "dsl/print_halide.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "dsl/directive.h"

namespace kiln {
namespace {

constexpr std::string_view kIndent = "\n    ";

class Printer {
 public:
  explicit Printer(const Algorithm& algorithm) : algorithm_(algorithm) {}

  std::string print(const Schedule& schedule) {
    calls(schedule);  // finds what has to be declared, and which names are taken twice
    const std::string text = calls(schedule);
    return comments() + declarations("Halide::Var", variables_) + declarations("Halide::RVar", reductions_) + text;
  }

 private:
  std::string calls(const Schedule& schedule) {
    std::string text;
    const Directive* previous = nullptr;
    for (const Directive& directive : schedule.directives) {
      const bool continues = previous && directive.stage == previous->stage && directive.update == previous->update;
      if (!continues) text += (previous ? ";\n" : "") + definition(directive);
      if (continues) text += kIndent;
      text += call(directive);
      previous = &directive;
    }
    return previous ? text + ";\n" : text;
  }

  std::string definition(const Directive& directive) {
    const std::string stage = refer(directive.stage);
    return directive.update < 0 ? stage : fmt::format("{}.update({})", stage, directive.update);
  }

  // A stage reference; remembers names that C++ cannot have.
  std::string refer(const std::string& reference) {
    const std::string name = halide_identifier(reference);
    if (name != reference) renamed_[name] = reference;
    return name;
  }

  std::string call(const Directive& directive) {
    const Signature* signature = match_signature(*find_directive(directive.name), directive.arguments);
    std::string text;
    for (std::size_t i = 0; i < directive.arguments.size(); ++i) {
      const auto& parameters = signature->parameters;
      text += (i == 0 ? "" : ", ") + argument(directive, i, parameters[std::min(i, parameters.size() - 1)].kind);
    }
    return fmt::format(".{}({})", directive.name, text);
  }

  std::string argument(const Directive& directive, std::size_t i, ParameterKind kind) {
    const DirectiveArgument& value = directive.arguments[i];
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    const std::string& word = std::get<std::string>(value);
    switch (kind) {
      case ParameterKind::stage: return refer(word);
      case ParameterKind::tail: return "Halide::TailStrategy::" + word;
      case ParameterKind::memory: return "Halide::MemoryType::" + word;
      case ParameterKind::new_loop: return declare(directive, word, source_of(directive, i));
      case ParameterKind::loop: return loop(directive, word);
      default: return word;
    }
  }

  // The loop that a new one comes from: tile's go in turn with its two, all others come from the first.
  static const std::string& source_of(const Directive& directive, std::size_t i) {
    return std::get<std::string>(directive.arguments[directive.name == "tile" ? i % 2 : 0]);
  }

  // Reduction loops are looked up by stage and definition: another stage may have a pure loop of the same name.
  using Scope = std::pair<std::string, int>;
  Scope scope_of(const Directive& directive) const { return {directive.stage, directive.update}; }

  bool is_reduction(const Directive& directive, const std::string& name) {
    return new_reductions_[scope_of(directive)].contains(name) || is_own_reduction(directive, name);
  }

  bool is_own_reduction(const Directive& directive, const std::string& name) const {
    const Stage* stage = algorithm_.find_stage(directive.stage);
    if (stage == nullptr || directive.update < 0) return false;
    const auto& reduction = stage->updates[static_cast<std::size_t>(directive.update)].reduction;
    return std::any_of(reduction.begin(), reduction.end(), [&](const ReductionVariable& variable) { return variable.name == name; });
  }

  std::string declare(const Directive& directive, const std::string& name, const std::string& source) {
    const bool reduces = is_reduction(directive, source);
    const Stage* stage = algorithm_.find_stage(directive.stage);
    const bool is_own = stage && (std::count(stage->loops.begin(), stage->loops.end(), name) > 0 || is_own_reduction(directive, name));
    if (is_own) return loop(directive, name);  // the algorithm's own name for a new loop: it is declared there
    if (reduces) new_reductions_[scope_of(directive)].insert(name);
    (reduces ? reductions_ : variables_).insert(name);
    return spelt(name, reduces);
  }

  std::string loop(const Directive& directive, const std::string& name) {
    if (is_reduction(directive, name)) return spelt(name, true);
    return is_input_loop(directive.stage, name) ? "Halide::_" + name.substr(1) : halide_identifier(name);
  }

  // The loops of an input's wrapper, d0, d1, …, are Halide's implicit ones.
  bool is_input_loop(const std::string& reference, const std::string& name) const {
    const std::size_t bracket = reference.find(".in(");
    const Stage* wrapper = bracket == std::string::npos ? nullptr : algorithm_.find_stage(reference.substr(0, bracket) + ".in");
    return wrapper != nullptr && std::count(wrapper->loops.begin(), wrapper->loops.end(), name) > 0;
  }

  // A Var and an RVar of one name need two identifiers; Halide goes by the name inside.
  std::string spelt(const std::string& name, bool reduces) const {
    const bool twice = reduces && reductions_.contains(name) && variables_.contains(name);
    return halide_identifier(name) + (twice ? "_r" : "");
  }

  std::string declarations(std::string_view type, const std::set<std::string>& names) const {
    std::string text;
    for (const std::string& name : names) text += fmt::format("{}{}(\"{}\")", text.empty() ? "" : ", ", spelt(name, type == "Halide::RVar"), name);
    return text.empty() ? "" : fmt::format("{} {};\n", type, text);
  }

  std::string comments() const {
    std::string text;
    for (const auto& [name, reference] : renamed_) text += fmt::format("// {}: the stage that Kiln calls {}\n", name, reference);
    return text;
  }

  const Algorithm& algorithm_;
  std::set<std::string> variables_, reductions_;           // new loops
  std::map<Scope, std::set<std::string>> new_reductions_;
  std::map<std::string, std::string> renamed_;             // identifier -> reference
};

}  // namespace

std::string halide_identifier(const std::string& name) {
  std::string text = name;
  std::replace(text.begin(), text.end(), '#', '_');
  return text;
}

std::string print_halide(const Schedule& schedule, const Algorithm& algorithm) {
  if (schedule.is_opaque()) return "// " + print(schedule.directives.front()) + ": made by Halide or the generator itself\n";
  return Printer(algorithm).print(schedule);
}

}  // namespace kiln
