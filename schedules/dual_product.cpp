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

// The sums that a stage is made of, without going through them.
void add_sums(const Algorithm& algorithm, const std::string& name, std::set<std::string>& sums) {
  const Stage* stage = algorithm.find_stage(name);
  if (stage == nullptr) return;
  if (!stage->updates.empty()) {
    sums.insert(name);
    return;
  }
  for (const std::string& load : loads_of(*stage)) add_sums(algorithm, load, sums);
}

std::set<std::string> sums_under(const Algorithm& algorithm, const std::string& name) {
  std::set<std::string> sums;
  add_sums(algorithm, name, sums);
  return sums;
}

// Whether it, and what lies between it and the sums, reads everything at its own element: a kernel of lines reads nothing else.
bool is_line(const Algorithm& algorithm, const std::string& name) {
  const Stage* stage = algorithm.find_stage(name);
  if (stage == nullptr || !stage->updates.empty() || is_wrapper(algorithm, *stage)) return true;
  const std::set<std::string> loads = loads_of(*stage);
  return is_pointwise(*stage) && std::all_of(loads.begin(), loads.end(), [&](const std::string& load) { return is_line(algorithm, load); });
}

std::string stored_of(const Algorithm& algorithm, const std::string& sum) {
  for (const Stage& stage : algorithm.stages)
    if (!algorithm.is_output(stage.name) && is_pointwise(stage) && loads_of(stage) == std::set<std::string>{sum}) return stage.name;
  return {};
}

// Of an algorithm whose one output of two loops is made of sums of products and nothing else that is summed; empty where it is none.
std::vector<SumOfProducts> sums_of(const Algorithm& algorithm) {
  if (algorithm.outputs.size() != 1 || algorithm.stage(algorithm.outputs[0]).loops.size() != 2) return {};
  std::vector<SumOfProducts> sums;
  for (const Stage& stage : algorithm.stages) {
    if (is_wrapper(algorithm, stage) || stage.updates.empty()) continue;
    const auto product = sum_of_products(stage);
    if (!product || algorithm.is_output(stage.name) || !is_input(algorithm, product->columns_of)) return {};
    sums.push_back(*product);
  }
  return sums;
}

// `made` is the stage that is made of both.
std::optional<DualProduct> dual_of(const Algorithm& algorithm, const SumOfProducts& one, const SumOfProducts& other, const std::string& made) {
  if (!is_input(algorithm, one.rows_of) || !are_alike(one, other)) return std::nullopt;
  if (sums_under(algorithm, made) != std::set<std::string>{one.stage.name, other.stage.name}) return std::nullopt;
  DualProduct dual{{one, other}, {}};
  if (is_line(algorithm, made)) dual.stored = {stored_of(algorithm, one.stage.name), stored_of(algorithm, other.stage.name)};
  return dual;
}

void set_extents(SumOfProducts& product, const Algorithm& algorithm, const Problem& problem, std::int64_t columns, std::int64_t rows) {
  product.columns = columns;
  product.rows = rows;
  product.terms = evaluate(*product.stage.updates[0].reduction[0].extent, algorithm, problem).value_or(1);
}

bool have_same_terms(const DualProduct& dual) { return dual.products[0].terms == dual.products[1].terms; }

}  // namespace

std::optional<DualProduct> find_dual_product(const Algorithm& algorithm) {
  const std::vector<SumOfProducts> sums = sums_of(algorithm);
  if (sums.size() != 2) return std::nullopt;
  return dual_of(algorithm, sums[0], sums[1], algorithm.outputs[0]);
}

std::optional<DualProduct> find_dual_product(const Algorithm& algorithm, const Problem& problem) {
  auto dual = find_dual_product(algorithm);
  if (!dual) return std::nullopt;
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, algorithm.outputs[0]);
  for (SumOfProducts& product : dual->products) set_extents(product, algorithm, problem, extents[0], extents[1]);
  return have_same_terms(*dual) ? dual : std::nullopt;
}

std::optional<FeedForward> find_feed_forward(const Algorithm& algorithm) {
  const std::vector<SumOfProducts> sums = sums_of(algorithm);
  if (sums.size() != 3) return std::nullopt;
  const Stage* hidden = algorithm.find_stage(sums[2].rows_of);
  if (hidden == nullptr || algorithm.is_output(hidden->name) || !is_pointwise(*hidden)) return std::nullopt;
  const auto dual = dual_of(algorithm, sums[0], sums[1], hidden->name);
  if (!dual || sums_under(algorithm, algorithm.outputs[0]) != std::set<std::string>{sums[2].stage.name}) return std::nullopt;
  return FeedForward{*dual, hidden->name, sums[2]};
}

std::optional<FeedForward> find_feed_forward(const Algorithm& algorithm, const Problem& problem) {
  auto layer = find_feed_forward(algorithm);
  if (!layer) return std::nullopt;
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, algorithm.outputs[0]);
  set_extents(layer->down, algorithm, problem, extents[0], extents[1]);
  for (SumOfProducts& product : layer->dual.products) set_extents(product, algorithm, problem, layer->down.terms, extents[1]);
  return have_same_terms(layer->dual) ? layer : std::nullopt;
}

}  // namespace kiln::schedules
