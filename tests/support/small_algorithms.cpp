#include "tests/support/small_algorithms.h"

#include "dsl/expression.h"

namespace kiln::tests {
namespace {

ExpressionPtr e(const char* text) { return parse_expression(text); }

Stage stage(std::string name, std::vector<std::string> loops, DType type, const char* value) { return {std::move(name), std::move(loops), {type}, {e(value)}, {}}; }

Argument buffer(std::string name, bool is_output, DType type, std::vector<std::optional<Interval>> estimates) {
  Argument argument;
  argument.name = std::move(name);
  argument.is_output = is_output;
  argument.type = type;
  argument.rank = static_cast<int>(estimates.size());
  argument.estimates = std::move(estimates);
  return argument;
}

}  // namespace

Algorithm product() {
  Algorithm algorithm;
  algorithm.generator = "product";
  algorithm.params = algorithm.default_params = {{"relu", "true"}, {"type", "float32"}};
  algorithm.type_param = "type";
  const Interval side{0, 64};
  algorithm.arguments = {buffer("A", false, kFloat32, {side, side}), buffer("B", false, kFloat32, {side, side}), buffer("C", true, kFloat32, {side, side})};
  algorithm.symbols = {{"k", {{"A", 0}, {"B", 1}}}, {"m", {{"A", 1}, {"C", 1}}}, {"n", {{"B", 0}, {"C", 0}}}};
  algorithm.symbol_order = {"m", "n", "k"};
  algorithm.stages = {stage("A.in", {"d0", "d1"}, kFloat32, "(load f32 A 0 d0 d1)"), stage("B.in", {"d0", "d1"}, kFloat32, "(load f32 B 0 d0 d1)"),
                      stage("c", {"n", "m"}, kFloat32, "(constant f32 0)"),
                      stage("y", {"n", "m"}, kFloat32, "(max f32 (load f32 c 0 n m) (constant f32 0))")};
  Update sum;
  sum.indices = {e("n"), e("m")};
  sum.values = {e("(add f32 (load f32 c 0 n m) (mul f32 (load f32 A.in 0 (reduction i32 k) m) (load f32 B.in 0 n (reduction i32 k))))")};
  sum.reduction = {{"k", e("0"), e("(extent i32 A.extent.0)")}};
  algorithm.stages[2].updates = {sum};
  algorithm.outputs = {"y"};
  algorithm.own_schedule_absent = "schedule() leaves every stage at its default";
  return algorithm;
}

Algorithm blurs() {
  Algorithm algorithm;
  algorithm.generator = "blurs";
  algorithm.arguments = {buffer("input", false, kFloat32, {std::nullopt, std::nullopt}), buffer("out", true, kInt32, {std::nullopt, std::nullopt})};
  for (const Argument& argument : algorithm.arguments) {
    for (int d = 0; d < argument.rank; ++d) {
      const std::string symbol = argument.name + "." + std::to_string(d);
      algorithm.symbols[symbol] = {{argument.name, d}};
      algorithm.symbol_order.push_back(symbol);
    }
  }
  algorithm.stages = {
      stage("input.in", {"d0", "d1"}, kFloat32, "(load f32 input 0 d0 d1)"), stage("gray", {"x", "y"}, kFloat32, "(load f32 input.in 0 x y)"),
      stage("blur_y", {"x", "y"}, kFloat32, "(add f32 (load f32 gray 0 x (sub i32 y 1)) (load f32 gray 0 x (add i32 y 1)))"),
      stage("blur_x", {"x", "y"}, kFloat32, "(add f32 (load f32 blur_y 0 (sub i32 x 1) y) (load f32 blur_y 0 (add i32 x 1) y))"),
      stage("out", {"x", "y"}, kInt32, "(cast i32 (sub f32 (load f32 gray 0 x y) (load f32 blur_x 0 x y)))")};
  algorithm.outputs = {"out"};
  return algorithm;
}

Algorithm reductions() {
  Algorithm algorithm;
  algorithm.generator = "reductions";
  algorithm.contract = Contract::fixed_tree;
  algorithm.arguments = {buffer("input", false, kInt32, {Interval{0, 32}, Interval{0, 16}}), buffer("out", true, kInt32, {Interval{0, 32}})};
  algorithm.symbols = {{"h", {{"input", 1}}}, {"w", {{"input", 0}, {"out", 0}}}};
  algorithm.symbol_order = {"w", "h"};
  Stage scan = stage("scan", {"x", "y"}, kInt32, "(constant i32 0)");
  Update step;
  step.indices = {e("x"), e("(reduction i32 r)")};
  step.values = {e("(sub i32 (load i32 input.in 0 x (reduction i32 r)) (load i32 scan 0 x (sub i32 (reduction i32 r) 1)))")};
  step.reduction = {{"r", e("1"), e("(extent i32 input.extent.1)")}};
  scan.updates = {step};
  Stage total = stage("total", {"x"}, kInt32, "(constant i32 0)");
  Update sum;
  sum.indices = {e("x")};
  sum.values = {e("(add i32 (load i32 total 0 x) (load i32 scan 0 (add i32 x (reduction i32 q.x)) (reduction i32 q.y)))")};
  sum.reduction = {{"q.x", e("0"), e("3")}, {"q.y", e("0"), e("(extent i32 input.extent.1)")}};
  Update difference = sum;
  difference.values = {e("(sub i32 (mul i32 (load i32 total 0 x) 2) (load i32 scan 0 (add i32 x (reduction i32 q.x)) (reduction i32 q.y)))")};
  total.updates = {sum, difference};
  algorithm.stages = {stage("input.in", {"d0", "d1"}, kInt32, "(load i32 input 0 d0 d1)"), scan, total, stage("out", {"x"}, kInt32, "(load i32 total 0 x)")};
  algorithm.outputs = {"out"};
  return algorithm;
}

Algorithm pairs() {
  Algorithm algorithm;
  algorithm.generator = "pairs";
  algorithm.arguments = {buffer("input", false, kInt32, {Interval{0, 32}}), buffer("out", true, kInt32, {Interval{0, 32}})};
  algorithm.symbols = {{"w", {{"input", 0}, {"out", 0}}}};
  algorithm.symbol_order = {"w"};
  algorithm.stages = {stage("input.in", {"d0"}, kInt32, "(load i32 input 0 d0)"), stage("a", {"x"}, kInt32, "(load i32 input.in 0 x)"),
                      stage("b", {"x"}, kInt32, "(load i32 input.in 0 x)"), stage("c", {"x"}, kInt32, "(load i32 a 0 x)"),
                      stage("d", {"x"}, kInt32, "(load i32 b 0 x)"), stage("out", {"x"}, kInt32, "(add i32 (load i32 c 0 x) (load i32 d 0 x))")};
  for (Stage& summed : algorithm.stages) {
    if (summed.name != "a" && summed.name != "b") continue;
    Update step;
    step.indices = {e("x")};
    step.values = {e(("(add i32 (load i32 " + summed.name + " 0 x) 1)").c_str())};
    summed.updates = {step};
  }
  algorithm.outputs = {"out"};
  return algorithm;
}

}  // namespace kiln::tests
