#include "dsl/stage_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

bool is_integer_constant(const Expression& expression) {
  return expression.op == Op::constant &&
         (std::holds_alternative<std::int64_t>(expression.value) || std::holds_alternative<std::uint64_t>(expression.value));
}

std::int64_t integer_of(const Expression& expression) {
  if (const auto* value = std::get_if<std::uint64_t>(&expression.value)) return static_cast<std::int64_t>(*value);
  return std::get<std::int64_t>(expression.value);
}

IndexForm unknown() {
  IndexForm form;
  form.is_known = false;
  return form;
}

IndexForm scaled(IndexForm form, double factor) {
  for (auto& [loop, coefficient] : form.terms) coefficient *= factor;
  form.low *= factor;
  form.high *= factor;
  if (form.low > form.high) std::swap(form.low, form.high);
  if (!form.symbols.empty()) form.symbols = fmt::format("{}*({})", factor, form.symbols);
  return form;
}

IndexForm sum(IndexForm a, const IndexForm& b) {
  if (!a.is_known || !b.is_known) return unknown();
  for (const auto& [loop, coefficient] : b.terms) {
    const auto place = std::lower_bound(a.terms.begin(), a.terms.end(), loop, [](const auto& term, int l) { return term.first < l; });
    if (place != a.terms.end() && place->first == loop) {
      place->second += coefficient;
    } else {
      a.terms.insert(place, {loop, coefficient});
    }
  }
  std::erase_if(a.terms, [](const auto& term) { return term.second == 0; });
  a.low += b.low;
  a.high += b.high;
  a.slack += b.slack;
  if (!b.symbols.empty()) a.symbols += "+" + b.symbols;
  return a;
}

// Reads one definition: its index forms and uses.
class DefinitionReader {
 public:
  DefinitionReader(const AlgorithmFacts& facts, const std::string& self, DefinitionFacts& definition)
      : facts_(facts), self_(self), definition_(definition) {}

  void read(const Expression& expression, bool before_loops) {
    if (expression.op == Op::let) {
      read(*expression.args[0], before_loops);
      lets_.emplace_back(expression.name, form_of(*expression.args[0]));
      read(*expression.args[1], before_loops);
      lets_.pop_back();
      return;
    }
    if (expression.op == Op::load && expression.name != self_) add_use(expression, before_loops);
    for (const ExpressionPtr& arg : expression.args) read(*arg, before_loops);
  }

  IndexForm form_of(const Expression& expression) const {
    switch (expression.op) {
      case Op::constant:
        if (is_integer_constant(expression)) return constant(static_cast<double>(integer_of(expression)));
        return unknown();
      case Op::loop:
      case Op::reduction: return loop(expression.name);
      case Op::parameter:
      case Op::extent: {
        IndexForm form;
        form.symbols = expression.name;
        return form;
      }
      case Op::cast: return expression.type.is_float() || expression.args[0]->type.is_float() ? unknown() : form_of(*expression.args[0]);
      case Op::add: return sum(form_of(*expression.args[0]), form_of(*expression.args[1]));
      case Op::sub: return sum(form_of(*expression.args[0]), scaled(form_of(*expression.args[1]), -1));
      case Op::mul: return product(expression);
      case Op::div: return quotient(expression);
      case Op::mod: return remainder(expression);
      case Op::variable: return let_value(expression.name);
      default: return unknown();
    }
  }

 private:
  static IndexForm constant(double value) {
    IndexForm form;
    form.low = form.high = value;
    return form;
  }

  IndexForm loop(const std::string& name) const {
    for (std::size_t i = 0; i < definition_.loops.size(); ++i) {
      if (definition_.loops[i].name != name) continue;
      IndexForm form;
      form.terms = {{static_cast<int>(i), 1.0}};
      return form;
    }
    return unknown();
  }

  IndexForm product(const Expression& expression) const {
    for (const std::size_t side : {0u, 1u})
      if (is_integer_constant(*expression.args[side]))
        return scaled(form_of(*expression.args[1 - side]), static_cast<double>(integer_of(*expression.args[side])));
    return unknown();
  }

  IndexForm quotient(const Expression& expression) const {
    if (!is_integer_constant(*expression.args[1]) || integer_of(*expression.args[1]) == 0) return unknown();
    IndexForm form = scaled(form_of(*expression.args[0]), 1.0 / static_cast<double>(integer_of(*expression.args[1])));
    ++form.slack;  // rounding may move either end of the range by one step
    return form;
  }

  IndexForm remainder(const Expression& expression) const {
    if (!is_integer_constant(*expression.args[1]) || integer_of(*expression.args[1]) <= 0) return unknown();
    IndexForm form;
    form.high = static_cast<double>(integer_of(*expression.args[1]) - 1);
    return form;
  }

  IndexForm let_value(const std::string& name) const {
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
      if (let->first == name) return let->second;
    return unknown();
  }

  void add_use(const Expression& load, bool before_loops) {
    const int producer = facts_.find(load.name);
    if (producer < 0) return;
    auto use = std::find_if(definition_.uses.begin(), definition_.uses.end(), [&](const Use& known) { return known.producer == producer; });
    if (use == definition_.uses.end()) {
      definition_.uses.push_back({producer, std::vector<std::vector<IndexForm>>(load.args.size()), false});
      use = definition_.uses.end() - 1;
    }
    use->before_loops = use->before_loops || before_loops;
    for (std::size_t d = 0; d < load.args.size(); ++d) merge(use->dimensions[d], form_of(*load.args[d]));
  }

  static void merge(std::vector<IndexForm>& forms, IndexForm form) {
    for (IndexForm& known : forms) {
      if (known.is_known != form.is_known || known.terms != form.terms || known.symbols != form.symbols) continue;
      known.low = std::min(known.low, form.low);
      known.high = std::max(known.high, form.high);
      known.slack = std::max(known.slack, form.slack);
      return;
    }
    forms.push_back(std::move(form));
  }

  const AlgorithmFacts& facts_;
  const std::string& self_;
  DefinitionFacts& definition_;
  std::vector<std::pair<std::string, IndexForm>> lets_;
};

bool loads(const Expression& expression, const std::string& stage) {
  bool found = false;
  for_each_node(expression, [&](const Expression& node) { found = found || (node.op == Op::load && node.name == stage); });
  return found;
}

bool is_regroupable(Op op) {
  return op == Op::add || op == Op::mul || op == Op::min || op == Op::max || op == Op::logical_and || op == Op::logical_or;
}

// The operands of a tree of one op, left to right.
void flatten(const Expression& expression, Op op, std::vector<const Expression*>& operands) {
  if (expression.op != op) {
    operands.push_back(&expression);
    return;
  }
  for (const ExpressionPtr& arg : expression.args) flatten(*arg, op, operands);
}

bool is_self_load(const Expression& expression, const Stage& stage, const Update& update, int component) {
  if (expression.op != Op::load || expression.name != stage.name || expression.component != component) return false;
  for (std::size_t d = 0; d < update.indices.size(); ++d)
    if (!equal(*expression.args[d], *update.indices[d])) return false;
  return true;
}

// `self op a op b …`, the stage loaded nowhere else. Halide proves more (argmin over Tuples); what it proves beyond this we refuse.
bool is_associative(const Stage& stage, const Update& update) {
  for (std::size_t component = 0; component < update.values.size(); ++component) {
    const Expression* body = update.values[component].get();
    for (; body->op == Op::let; body = body->args[1].get())
      if (loads(*body->args[0], stage.name)) return false;
    const Expression& value = *body;
    if (!is_regroupable(value.op)) return false;
    std::vector<const Expression*> operands;
    flatten(value, value.op, operands);
    int selves = 0;
    for (const Expression* operand : operands) {
      if (is_self_load(*operand, stage, update, static_cast<int>(component))) {
        ++selves;
      } else if (loads(*operand, stage.name)) {
        return false;
      }
    }
    if (selves != 1) return false;
  }
  return std::none_of(update.indices.begin(), update.indices.end(), [&](const ExpressionPtr& index) { return loads(*index, stage.name); });
}

bool is_reduction_variable(const Expression& expression, const std::string& name) {
  return expression.op == Op::reduction && expression.name == name;
}

// An index of the left-hand side is the variable itself, and so is that index of every load of the stage: no two iterations meet.
bool runs_in_any_order(const Stage& stage, const Update& update, const std::string& variable) {
  for (std::size_t d = 0; d < update.indices.size(); ++d) {
    if (!is_reduction_variable(*update.indices[d], variable)) continue;
    bool apart = true;
    const auto check = [&](const Expression& node) {
      if (node.op == Op::load && node.name == stage.name && !is_reduction_variable(*node.args[d], variable)) apart = false;
    };
    for (const ExpressionPtr& value : update.values) for_each_node(*value, check);
    for (const ExpressionPtr& index : update.indices) for_each_node(*index, check);
    if (update.predicate) for_each_node(*update.predicate, check);
    if (apart) return true;
  }
  return false;
}

std::optional<std::int64_t> constant_of(const ExpressionPtr& expression) {
  if (!expression || !is_integer_constant(*expression)) return std::nullopt;
  return integer_of(*expression);
}

DefinitionFacts read_pure(const AlgorithmFacts& facts, const Stage& stage) {
  DefinitionFacts definition;
  for (const std::string& loop : stage.loops) {
    definition.pure_loop.push_back(static_cast<int>(definition.loops.size()));
    definition.loops.push_back({loop, false, false, std::nullopt});
  }
  DefinitionReader reader(facts, stage.name, definition);
  for (const ExpressionPtr& value : stage.values) reader.read(*value, false);
  return definition;
}

DefinitionFacts read_update(const AlgorithmFacts& facts, const Stage& stage, const Update& update) {
  DefinitionFacts definition;
  for (const ReductionVariable& variable : update.reduction)
    definition.loops.push_back({variable.name, true, !runs_in_any_order(stage, update, variable.name), constant_of(variable.extent)});
  for (std::size_t d = 0; d < stage.loops.size(); ++d) {
    const Expression& index = *update.indices[d];
    const bool is_pure = index.op == Op::loop && index.name == stage.loops[d];
    definition.pure_loop.push_back(is_pure ? static_cast<int>(definition.loops.size()) : -1);
    if (is_pure) definition.loops.push_back({stage.loops[d], false, false, std::nullopt});
  }
  definition.is_associative = is_associative(stage, update);
  definition.is_constant = std::all_of(update.values.begin(), update.values.end(), [](const ExpressionPtr& v) { return v->op == Op::constant; });
  DefinitionReader reader(facts, stage.name, definition);
  for (const ReductionVariable& variable : update.reduction) {
    reader.read(*variable.min, true);
    reader.read(*variable.extent, true);
  }
  for (const ExpressionPtr& index : update.indices) reader.read(*index, false);
  for (const ExpressionPtr& value : update.values) reader.read(*value, false);
  if (update.predicate) reader.read(*update.predicate, false);
  return definition;
}

// The extents of an output stage: those of its first argument (a Tuple's components share them).
std::vector<std::optional<std::int64_t>> output_extents(const Algorithm& algorithm, const Stage& stage, const Problem& problem) {
  std::vector<std::optional<std::int64_t>> extents;
  std::size_t skipped = 0;
  for (const std::string& output : algorithm.outputs) {
    if (output == stage.name) break;
    skipped += algorithm.stage(output).types.size();
  }
  for (const Argument& argument : algorithm.arguments) {
    if (!argument.is_output || skipped-- > 0) continue;
    for (int d = 0; d < argument.rank; ++d) extents.push_back(extent_of(problem, algorithm, argument.name, d));
    break;
  }
  return extents;
}

}  // namespace

int AlgorithmFacts::find(std::string_view name) const {
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i].stage->name == name) return static_cast<int>(i);
  return -1;
}

AlgorithmFacts facts_of(const Algorithm& algorithm, const Problem* problem) {
  AlgorithmFacts facts;
  facts.algorithm = &algorithm;
  if (problem) facts.problem = *problem;
  for (const Stage& stage : algorithm.stages) {
    StageFacts known;
    known.stage = &stage;
    known.is_output = algorithm.is_output(stage.name);
    known.is_float = std::any_of(stage.types.begin(), stage.types.end(), [](DType type) { return type.is_float(); });
    if (known.is_output && problem) known.extents = output_extents(algorithm, stage, *problem);
    known.extents.resize(stage.loops.size());
    facts.stages.push_back(std::move(known));
  }
  for (StageFacts& known : facts.stages) {
    known.definitions.push_back(read_pure(facts, *known.stage));
    for (const Update& update : known.stage->updates) known.definitions.push_back(read_update(facts, *known.stage, update));
  }
  return facts;
}

}  // namespace kiln
