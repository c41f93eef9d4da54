#include "schedules/structure.h"

#include <algorithm>

#include "dsl/error.h"

namespace kiln::schedules {
namespace {

bool is_loop(const ExpressionPtr& index, const std::string& name) { return index->op == Op::loop && index->name == name; }
bool is_reduction(const ExpressionPtr& index, const std::string& name) { return index->op == Op::reduction && index->name == name; }
bool is_number(const Expression& expression, std::int64_t number) {
  return expression.op == Op::constant && expression.value == decltype(expression.value)(number);
}

// Through casts, which change the type and not what is read.
const Expression& uncast(const Expression& expression) { return expression.op == Op::cast ? uncast(*expression.args[0]) : expression; }

// In `self + x * y` (either order of the sum): the two factors.
std::optional<std::pair<const Expression*, const Expression*>> multiplied(const Stage& stage, const Expression& value) {
  if (value.op != Op::add) return std::nullopt;
  for (std::size_t self = 0; self < 2; ++self) {
    const Expression& load = *value.args[self];
    const Expression& term = uncast(*value.args[1 - self]);
    if (load.op == Op::load && load.name == stage.name && term.op == Op::mul) return std::pair(&uncast(*term.args[0]), &uncast(*term.args[1]));
  }
  return std::nullopt;
}

// 2 * k + pair, however it is written.
bool is_pair_index(const ExpressionPtr& index, const std::string& k, const std::string& pair) {
  if (index->op != Op::add) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    const Expression& twice = *index->args[side];
    if (twice.op != Op::mul || !is_reduction(index->args[1 - side], pair)) continue;
    for (std::size_t factor = 0; factor < 2; ++factor) {
      if (is_reduction(twice.args[1 - factor], k) && is_number(*twice.args[factor], 2)) return true;
    }
  }
  return false;
}

// Whether a and b are read as the product of two matrices reads them, in one of the two forms.
bool match_operands(const Expression& a, const Expression& b, const Contraction& names) {
  if (a.args.size() != 2 || !is_loop(a.args[1], names.product_m)) return false;
  if (!names.in_pairs()) return b.args.size() == 2 && is_reduction(a.args[0], names.k) && is_loop(b.args[0], names.product_n) && is_reduction(b.args[1], names.k);
  return b.args.size() == 3 && is_pair_index(a.args[0], names.k, names.pair) && is_reduction(b.args[0], names.pair) && is_loop(b.args[1], names.product_n) &&
         is_reduction(b.args[2], names.k);
}

// Names the reduction when it is one over k, or over two terms of each pair and the pairs.
bool match_reduction(const Update& update, Contraction& found) {
  const auto& variables = update.reduction;
  if (update.predicate || variables.empty() || variables.size() > 2) return false;
  found.k = variables.back().name;
  if (variables.size() == 1) return true;
  found.pair = variables[0].name;
  return is_number(*variables[0].min, 0) && is_number(*variables[0].extent, 2);
}

// Fills in the operands when the stage is such a product.
bool match_product(const Stage& stage, Contraction& found) {
  if (stage.updates.size() != 1 || stage.loops.size() != 2 || stage.types.size() != 1) return false;
  const Update& update = stage.updates[0];
  for (std::size_t d = 0; d < 2; ++d) {
    if (!is_loop(update.indices[d], stage.loops[d])) return false;
  }
  const auto factors = multiplied(stage, *update.values[0]);
  if (!factors || !match_reduction(update, found)) return false;
  found.product = stage.name;
  found.product_n = stage.loops[0];
  found.product_m = stage.loops[1];
  found.type = stage.types[0];
  for (const auto& [a, b] : {*factors, std::pair(factors->second, factors->first)}) {
    if (a->op != Op::load || b->op != Op::load || !match_operands(*a, *b, found)) continue;
    found.b = b->name;
    return true;
  }
  return false;
}

// Whether every read of `name` in the pure stage is point by point.
bool reads_pointwise(const Stage& stage, const std::string& name) {
  bool pointwise = true;
  for (const ExpressionPtr& value : stage.values) {
    for_each_node(*value, [&](const Expression& node) {
      if (node.op == Op::load && node.name == name) pointwise = pointwise && is_pointwise_load(node, stage);
    });
  }
  return pointwise;
}

}  // namespace

std::string reference(const Algorithm& algorithm, const std::string& stage) {
  const Stage* found = algorithm.find_stage(stage);
  return found && is_wrapper(algorithm, *found) ? stage + "()" : stage;
}

std::string new_name(std::string base, const std::vector<std::string>& taken) {
  while (std::count(taken.begin(), taken.end(), base) > 0) base += '_';
  return base;
}

std::string new_loop(const Stage& stage, const std::string& base) {
  std::vector<std::string> taken = stage.loops;
  for (const Update& update : stage.updates) {
    for (const ReductionVariable& variable : update.reduction) taken.push_back(variable.name);
  }
  return new_name(base, taken);
}

Algorithm with_stored_outputs(const Algorithm& algorithm) {
  Algorithm result = algorithm;
  for (std::string& output : result.outputs) {
    const Stage stage = algorithm.stage(output);
    const bool is_read = std::any_of(algorithm.stages.begin(), algorithm.stages.end(), [&](const Stage& other) {
      const std::vector<std::string> producers = producers_of(other);
      return std::count(producers.begin(), producers.end(), output) > 0;
    });
    const bool reduces = std::any_of(stage.updates.begin(), stage.updates.end(), [](const Update& update) { return !update.reduction.empty(); });
    const bool scatters = std::any_of(stage.updates.begin(), stage.updates.end(), [&](const Update& update) {
      for (std::size_t d = 0; d < stage.loops.size(); ++d) {
        if (!is_loop(update.indices[d], stage.loops[d])) return true;
      }
      return false;
    });
    if (is_read || !reduces || scatters || stage.loops.empty()) continue;
    Stage wrapper{output + ".in()", stage.loops, stage.types, {}, {}};
    std::vector<ExpressionPtr> loops;
    for (const std::string& loop : stage.loops) loops.push_back(std::make_shared<const Expression>(Expression{Op::loop, kInt32, loop, 0, std::int64_t{0}, {}}));
    for (std::size_t c = 0; c < stage.types.size(); ++c) {
      wrapper.values.push_back(std::make_shared<const Expression>(Expression{Op::load, stage.types[c], output, static_cast<int>(c), std::int64_t{0}, loops}));
    }
    result.stages.push_back(wrapper);
    output = wrapper.name;
  }
  return result;
}

std::optional<std::string> stored_output(const Algorithm& algorithm, const std::string& stage) {
  constexpr std::string_view kWrapper = ".in()";
  if (!algorithm.is_output(stage) || !std::string_view(stage).ends_with(kWrapper)) return std::nullopt;
  return stage.substr(0, stage.size() - kWrapper.size());
}

std::string knob_suffix(const std::string& stage) { return "." + stage.substr(0, stage.find('(')); }

std::vector<std::int64_t> output_extents(const Algorithm& algorithm, const Problem& problem, const std::string& output) {
  std::vector<const Argument*> arguments;
  for (const Argument& argument : algorithm.arguments) {
    if (argument.is_output) arguments.push_back(&argument);
  }
  std::size_t first = 0;  // a Tuple output is one argument a component
  for (const std::string& name : algorithm.outputs) {
    const Stage& stage = algorithm.stage(name);
    if (name != output) {
      first += stage.types.size();
      continue;
    }
    KILN_CHECK(first < arguments.size(), "output " + output + " has no argument");
    std::vector<std::int64_t> extents;
    for (int d = 0; d < static_cast<int>(stage.loops.size()); ++d) extents.push_back(extent_of(problem, algorithm, arguments[first]->name, d));
    return extents;
  }
  KILN_CHECK(false, output + " is no output");
}

std::optional<std::int64_t> evaluate(const Expression& expression, const Algorithm& algorithm, const Problem& problem) {
  if (expression.op == Op::constant) {
    if (const auto* number = std::get_if<std::int64_t>(&expression.value)) return *number;
    if (const auto* number = std::get_if<std::uint64_t>(&expression.value)) return static_cast<std::int64_t>(*number);
    return std::nullopt;
  }
  if (expression.op == Op::extent) {
    for (const Argument& argument : algorithm.arguments) {
      for (int d = 0; d < argument.rank; ++d) {
        if (expression.name == argument.name + ".extent." + std::to_string(d)) return extent_of(problem, algorithm, argument.name, d);
        if (expression.name == argument.name + ".min." + std::to_string(d)) return 0;
      }
    }
    return std::nullopt;
  }
  std::vector<std::int64_t> args;
  for (const ExpressionPtr& arg : expression.args) {
    const auto value = evaluate(*arg, algorithm, problem);
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  switch (expression.op) {
    case Op::cast: return args[0];
    case Op::add: return args[0] + args[1];
    case Op::sub: return args[0] - args[1];
    case Op::mul: return args[0] * args[1];
    case Op::div: return args[1] > 0 && args[0] >= 0 ? std::optional(args[0] / args[1]) : std::nullopt;
    case Op::min: return std::min(args[0], args[1]);
    case Op::max: return std::max(args[0], args[1]);
    default: return std::nullopt;
  }
}

DType widest_type(const Algorithm& algorithm) {
  DType widest = algorithm.stages.empty() ? kFloat32 : algorithm.stages[0].types[0];
  for (const Stage& stage : algorithm.stages) {
    for (const DType type : stage.types) {
      if (type.bits > widest.bits) widest = type;
    }
  }
  return widest;
}

std::int64_t lanes_of(const Device& device, DType type) { return std::max<std::int64_t>(1, device.vector_bytes / type.bytes()); }

std::vector<std::int64_t> vector_widths(std::int64_t lanes, std::int64_t extent) {
  std::int64_t widest = 1;
  while (widest * 2 <= std::min(lanes, extent)) widest *= 2;
  if (widest == 1) return {1};
  return {widest, widest / 2};
}

std::vector<std::int64_t> at_most(std::vector<std::int64_t> candidates, std::int64_t most) {
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(), [&](std::int64_t value) { return value > most; }), candidates.end());
  if (candidates.empty()) candidates.push_back(1);
  return candidates;
}

bool is_pointwise_load(const Expression& load, const Stage& consumer) {
  if (load.args.size() > consumer.loops.size()) return false;
  for (std::size_t d = 0; d < load.args.size(); ++d) {
    if (!is_loop(load.args[d], consumer.loops[d])) return false;
  }
  return true;
}

std::optional<Contraction> find_contraction(const Algorithm& algorithm, const Problem& problem) {
  if (algorithm.outputs.size() != 1) return std::nullopt;
  Contraction found;
  for (const Stage& stage : algorithm.stages) {
    if (stage.updates.empty()) continue;
    if (!found.product.empty() || !match_product(stage, found)) return std::nullopt;
  }
  if (found.product.empty()) return std::nullopt;
  // The terms of a pair are added to each other before they are added to the sum, which a strict contract forbids.
  if (found.in_pairs() && algorithm.contract == Contract::strict) return std::nullopt;
  for (const Stage& stage : algorithm.stages) {
    if (!reads_pointwise(stage, found.product)) return std::nullopt;
  }
  const Stage& output = algorithm.stage(algorithm.outputs[0]);
  if (output.name == found.product || output.loops.size() != 2 || output.types.size() != 1) return std::nullopt;
  // Between the product and the output every read of a stage that depends on the product is point by point too.
  for (const Stage& stage : algorithm.stages) {
    for (const std::string& producer : producers_of(stage)) {
      const Stage* read = algorithm.find_stage(producer);
      if (!read || is_wrapper(algorithm, *read) || producer == stage.name) continue;
      const std::vector<std::string> further = producers_of(*read);
      const bool carries = producer == found.product || std::count(further.begin(), further.end(), found.product) > 0;
      if (carries && stage.name != found.product && !reads_pointwise(stage, producer)) return std::nullopt;
    }
  }
  const Stage& product = algorithm.stage(found.product);
  const auto k = evaluate(*product.updates[0].reduction.back().extent, algorithm, problem);
  if (!k || !algorithm.find_stage(found.b)) return std::nullopt;
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, output.name);
  found.output = output.name;
  found.output_n = output.loops[0];
  found.output_m = output.loops[1];
  const Stage& b = algorithm.stage(found.b);
  found.b_inner = b.loops[found.in_pairs() ? 1 : 0];
  if (found.in_pairs()) found.b_pair = b.loops[0];
  found.extent_n = extents[0];
  found.extent_m = extents[1];
  found.extent_k = *k;
  return found;
}

}  // namespace kiln::schedules
