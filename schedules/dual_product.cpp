#include "schedules/dual_product.h"

#include <algorithm>
#include <set>
#include <vector>

#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

bool is_input(const Algorithm& algorithm, const std::string& name) {
  return std::any_of(algorithm.arguments.begin(), algorithm.arguments.end(), [&](const Argument& argument) { return argument.name == name && !argument.is_output; });
}

bool are_alike(const SumOfProducts& a, const SumOfProducts& b) {
  return a.rows_of == b.rows_of && a.columns_of != b.columns_of && a.type_of_rows == b.type_of_rows && a.type_of_columns == b.type_of_columns &&
         a.terms_are_neighbours == b.terms_are_neighbours && a.is_of_codes == b.is_of_codes;
}

std::set<std::string> loads_of(const Stage& stage) {
  std::set<std::string> names;
  for_each_node(*stage.values[0], [&](const Expression& node) {
    if (node.op == Op::load) names.insert(node.name);
  });
  return names;
}

bool is_pointwise(const Stage& stage) {
  bool is = stage.updates.empty() && stage.loops.size() == 2 && stage.values.size() == 1;
  if (!is) return false;
  for_each_node(*stage.values[0], [&](const Expression& node) { is = is && (node.op != Op::load || is_pointwise_load(node, stage)); });
  return is;
}

std::string stored_of(const Algorithm& algorithm, const std::string& sum) {
  for (const Stage& stage : algorithm.stages)
    if (!algorithm.is_output(stage.name) && is_pointwise(stage) && loads_of(stage) == std::set<std::string>{sum}) return stage.name;
  return {};
}

}  // namespace

std::optional<DualProduct> find_dual_product(const Algorithm& algorithm) {
  if (algorithm.outputs.size() != 1 || algorithm.stage(algorithm.outputs[0]).loops.size() != 2) return std::nullopt;
  std::vector<SumOfProducts> found;
  for (const Stage& stage : algorithm.stages) {
    if (is_wrapper(algorithm, stage) || stage.updates.empty()) continue;
    const auto product = sum_of_products(stage);
    if (!product || algorithm.is_output(stage.name) || !is_input(algorithm, product->rows_of) || !is_input(algorithm, product->columns_of)) return std::nullopt;
    found.push_back(*product);
  }
  if (found.size() != 2 || !are_alike(found[0], found[1])) return std::nullopt;
  return DualProduct{{found[0], found[1]}, {stored_of(algorithm, found[0].stage.name), stored_of(algorithm, found[1].stage.name)}};
}

std::optional<DualProduct> find_dual_product(const Algorithm& algorithm, const Problem& problem) {
  auto dual = find_dual_product(algorithm);
  if (!dual) return std::nullopt;
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, algorithm.outputs[0]);
  for (SumOfProducts& product : dual->products) {
    product.columns = extents[0];
    product.rows = extents[1];
    product.terms = evaluate(*product.stage.updates[0].reduction[0].extent, algorithm, problem).value_or(1);
  }
  if (dual->products[0].terms != dual->products[1].terms) return std::nullopt;
  return dual;
}

}  // namespace kiln::schedules
