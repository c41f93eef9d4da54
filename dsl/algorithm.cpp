// The canonical text of an algorithm, its identity, and the questions that other parts ask of it.

#include "dsl/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "dsl/error.h"

namespace kiln {
namespace {

constexpr std::array<std::pair<Contract, std::string_view>, 4> kContracts{{
    {Contract::strict, "strict"}, {Contract::fixed_tree, "fixed_tree"}, {Contract::bounded, "bounded"}, {Contract::free, "free"}}};

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string joined(const std::vector<ExpressionPtr>& expressions) {
  std::vector<std::string> words;
  for (const ExpressionPtr& e : expressions) words.push_back(print(*e));
  return joined(words);
}

std::string print_argument(const Argument& a) {
  return fmt::format("{} {} {} {}\n", a.is_output ? "output" : "input", a.name, print(a.type), a.is_scalar ? "scalar" : std::to_string(a.rank));
}

std::string print_update(const Update& update, std::size_t index) {
  std::string text = fmt::format("  update {} at {}\n", index, joined(update.indices));
  for (const ReductionVariable& r : update.reduction)
    text += fmt::format("    over {} from {} for {}\n", r.name, print(*r.min), print(*r.extent));
  if (update.predicate) text += fmt::format("    where {}\n", print(*update.predicate));
  for (const ExpressionPtr& value : update.values) text += fmt::format("    {}\n", print(*value));
  return text;
}

std::string print_stage(const Stage& stage) {
  std::vector<std::string> types;
  for (const DType type : stage.types) types.push_back(print(type));
  std::string text = fmt::format("stage {} ({}) {}\n", stage.name, joined(stage.loops), joined(types));
  for (const ExpressionPtr& value : stage.values) text += fmt::format("  {}\n", print(*value));
  for (std::size_t i = 0; i < stage.updates.size(); ++i) text += print_update(stage.updates[i], i);
  return text;
}

// Everything that stage's definitions evaluate, in the order a reader meets it.
std::vector<const Expression*> expressions_of(const Stage& stage) {
  std::vector<const Expression*> all;
  const auto add = [&](const std::vector<ExpressionPtr>& list) {
    for (const ExpressionPtr& e : list) all.push_back(e.get());
  };
  add(stage.values);
  for (const Update& update : stage.updates) {
    for (const ReductionVariable& r : update.reduction) {
      all.push_back(r.min.get());
      all.push_back(r.extent.get());
    }
    if (update.predicate) all.push_back(update.predicate.get());
    add(update.indices);
    add(update.values);
  }
  return all;
}

}  // namespace

std::string print(Contract contract) { return std::string(kContracts[static_cast<std::size_t>(contract)].second); }

std::optional<Contract> parse_contract(std::string_view text) {
  for (const auto& [contract, name] : kContracts)
    if (name == text) return contract;
  return std::nullopt;
}

const Stage* Algorithm::find_stage(const std::string& name) const {
  const auto found = std::ranges::find(stages, name, &Stage::name);
  return found == stages.end() ? nullptr : &*found;
}

const Stage& Algorithm::stage(const std::string& name) const {
  if (const Stage* found = find_stage(name)) return *found;
  std::vector<std::string> names;
  for (const Stage& s : stages) names.push_back(s.name);
  throw ScheduleError(fmt::format("`{}` has no stage `{}`; its stages are {}", generator, name, joined(names)));
}

bool Algorithm::is_output(const std::string& stage_name) const { return std::ranges::find(outputs, stage_name) != outputs.end(); }

std::string print(const Algorithm& algorithm) {
  std::string text = fmt::format("generator {}\ncontract {}\n", algorithm.generator, print(algorithm.contract));
  for (const auto& [name, value] : algorithm.params) text += fmt::format("param {}={}\n", name, value);
  for (const Argument& argument : algorithm.arguments) text += print_argument(argument);
  for (const Stage& stage : algorithm.stages) text += print_stage(stage);
  for (const ExpressionPtr& condition : algorithm.requirements) text += fmt::format("require {}\n", print(*condition));
  return text + fmt::format("outputs {}\n", joined(algorithm.outputs));
}

Digest digest(const Algorithm& algorithm) { return digest("algorithm", print(algorithm)); }

bool is_wrapper(const Algorithm& algorithm, const Stage& stage) {
  return std::any_of(algorithm.arguments.begin(), algorithm.arguments.end(),
                     [&](const Argument& argument) { return !argument.is_output && stage.name == argument.name + ".in"; });
}

std::vector<std::string> producers_of(const Stage& stage) {
  std::vector<std::string> names;
  if (stage.name.ends_with(".in")) return names;  // an input's wrapper loads its argument, which is no stage
  for (const Expression* root : expressions_of(stage))
    for_each_node(*root, [&](const Expression& e) {
      const bool is_stage = e.op == Op::load && e.name != stage.name && e.name.find('@') == std::string::npos;
      if (is_stage && std::ranges::find(names, e.name) == names.end()) names.push_back(e.name);
    });
  return names;
}

}  // namespace kiln
