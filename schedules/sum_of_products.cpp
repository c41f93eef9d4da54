#include "schedules/sum_of_products.h"

#include <algorithm>

#include "dsl/float8_pattern.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

bool is_index(const ExpressionPtr& index, Op op, const std::string& name) { return index->op == op && index->name == name; }

// `A.in` is the argument A.
std::string argument_of(const std::string& wrapper) { return wrapper.ends_with(".in") ? wrapper.substr(0, wrapper.size() - 3) : wrapper; }

// False when some load has another form.
bool read_loads(SumOfProducts& product, const std::string& term) {
  const Stage& stage = product.stage;
  bool is_served = true;
  for_each_node(*stage.updates[0].values[0], [&](const Expression& node) {
    if (node.op != Op::load || node.name == stage.name) return;
    const bool two = node.args.size() == 2;
    if (two && is_index(node.args[0], Op::reduction, term) && is_index(node.args[1], Op::loop, stage.loops[1])) {
      product.rows_of = argument_of(node.name);
      product.type_of_rows = node.type;
    } else if (two && is_index(node.args[0], Op::reduction, term) && is_index(node.args[1], Op::loop, stage.loops[0])) {
      product.columns_of = argument_of(node.name);
      product.type_of_columns = node.type;
      product.terms_are_neighbours = true;
    } else if (two && is_index(node.args[0], Op::loop, stage.loops[0]) && is_index(node.args[1], Op::reduction, term)) {
      product.columns_of = argument_of(node.name);
      product.type_of_columns = node.type;
      product.terms_are_neighbours = false;
    } else {
      is_served = false;
    }
  });
  return is_served && !product.rows_of.empty() && !product.columns_of.empty();
}

bool is_decoding(const Expression& factor) {
  const auto decoded = match_decode_float8(factor);
  return decoded && decoded->format.name == kE4M3FN.name && decoded->value->op == Op::load;
}

// Of `c + decoded · decoded`.
bool multiplies_codes(const Stage& stage) {
  const ExpressionPtr whole = without_lets(stage.updates[0].values[0]);
  if (whole->op != Op::add) return false;
  return std::any_of(whole->args.begin(), whole->args.end(), [](const ExpressionPtr& term) { return term->op == Op::mul && is_decoding(*term->args[0]) && is_decoding(*term->args[1]); });
}

}  // namespace

std::optional<SumOfProducts> sum_of_products(const Stage& stage) {
  if (stage.updates.size() != 1 || stage.loops.size() != 2 || stage.updates[0].reduction.size() != 1 || stage.updates[0].predicate) return std::nullopt;
  SumOfProducts product;
  product.stage = stage;
  if (!read_loads(product, stage.updates[0].reduction[0].name)) return std::nullopt;
  product.is_of_codes = multiplies_codes(stage);
  return product;
}

std::optional<SumOfProducts> find_sum_of_products(const Algorithm& algorithm) {
  if (algorithm.outputs.size() != 1 || algorithm.stage(algorithm.outputs[0]).loops.size() != 2) return std::nullopt;
  std::optional<SumOfProducts> product;
  for (const Stage& stage : algorithm.stages) {
    if (is_wrapper(algorithm, stage) || stage.updates.empty()) continue;
    if (product || algorithm.is_output(stage.name)) return std::nullopt;
    product = sum_of_products(stage);
    if (!product) return std::nullopt;
  }
  return product;
}

std::optional<SumOfProducts> find_sum_of_products(const Algorithm& algorithm, const Problem& problem) {
  auto product = find_sum_of_products(algorithm);
  if (!product) return std::nullopt;
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, algorithm.outputs[0]);
  product->columns = extents[0];
  product->rows = extents[1];
  product->terms = evaluate(*product->stage.updates[0].reduction[0].extent, algorithm, problem).value_or(1);
  return product;
}

}  // namespace kiln::schedules
