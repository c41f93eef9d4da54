#include "tests/generators/cuda/stream/algorithms.h"

#include <string>
#include <utility>

#include "dsl/expression.h"

namespace kiln::tests {
namespace {

constexpr DType kBfloat16{TypeClass::brain_float, 16};
constexpr DType kUInt8{TypeClass::unsigned_int, 8};

ExpressionPtr e(const char* text) { return parse_expression(text); }

Stage stage(std::string name, std::vector<std::string> loops, DType type, const char* value) { return {std::move(name), std::move(loops), {type}, {e(value)}, {}}; }

Argument buffer(std::string name, bool is_output, DType type, int rank) {
  Argument argument;
  argument.name = std::move(name);
  argument.is_output = is_output;
  argument.type = type;
  argument.rank = rank;
  argument.estimates.assign(static_cast<std::size_t>(rank), Interval{0, 64});
  return argument;
}

Argument scalar(std::string name, double value) {
  Argument argument;
  argument.name = std::move(name);
  argument.is_scalar = true;
  argument.type = kFloat32;
  argument.scalar_estimate = value;
  return argument;
}

Update over_row(const char* value) {
  Update update;
  update.indices = {e("m")};
  update.values = {e(value)};
  update.reduction = {{"k", e("0"), e("(extent i32 x.extent.0)")}};
  return update;
}

}  // namespace

Algorithm gate() {
  Algorithm algorithm;
  algorithm.generator = "gate";
  algorithm.contract = Contract::strict;
  algorithm.arguments = {buffer("g", false, kBfloat16, 2), buffer("u", false, kBfloat16, 2), buffer("y", true, kBfloat16, 2)};
  algorithm.symbols = {{"m", {{"g", 1}, {"u", 1}, {"y", 1}}}, {"n", {{"g", 0}, {"u", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n"};
  algorithm.stages = {
      stage("g.in", {"d0", "d1"}, kBfloat16, "(load bf16 g 0 d0 d1)"), stage("u.in", {"d0", "d1"}, kBfloat16, "(load bf16 u 0 d0 d1)"),
      stage("wide", {"n", "m"}, kFloat32, "(cast f32 (load bf16 g.in 0 n m))"),
      stage("gated", {"n", "m"}, kFloat32,
            "(div f32 (load f32 wide 0 n m) (add f32 (constant f32 1) (call f32 exp (sub f32 (constant f32 0) (load f32 wide 0 n m)))))"),
      stage("y", {"n", "m"}, kBfloat16, "(cast bf16 (mul f32 (load f32 gated 0 n m) (cast f32 (load bf16 u.in 0 n m))))")};
  algorithm.outputs = {"y"};
  return algorithm;
}

Algorithm norm() {
  Algorithm algorithm;
  algorithm.generator = "norm";
  algorithm.arguments = {buffer("x", false, kBfloat16, 2), buffer("gamma", false, kBfloat16, 1), scalar("eps", 1e-5), buffer("y", true, kBfloat16, 2)};
  algorithm.symbols = {{"m", {{"x", 1}, {"y", 1}}}, {"n", {{"x", 0}, {"gamma", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n"};
  Stage squares = stage("squares", {"m"}, kFloat32, "(constant f32 0)");
  squares.updates = {over_row("(add f32 (load f32 squares 0 m) (mul f32 (cast f32 (load bf16 x.in 0 (reduction i32 k) m)) (cast f32 (load bf16 x.in 0 (reduction i32 k) m))))")};
  algorithm.stages = {
      stage("x.in", {"d0", "d1"}, kBfloat16, "(load bf16 x 0 d0 d1)"), stage("gamma.in", {"d0"}, kBfloat16, "(load bf16 gamma 0 d0)"), squares,
      stage("scale", {"m"}, kFloat32,
            "(div f32 (constant f32 1) (call f32 sqrt (add f32 (div f32 (load f32 squares 0 m) (cast f32 (extent i32 x.extent.0))) (parameter f32 eps))))"),
      stage("y", {"n", "m"}, kBfloat16,
            "(cast bf16 (mul f32 (mul f32 (cast f32 (load bf16 x.in 0 n m)) (load f32 scale 0 m)) (cast f32 (load bf16 gamma.in 0 n))))")};
  algorithm.outputs = {"y"};
  return algorithm;
}

Algorithm shares() {
  Algorithm algorithm;
  algorithm.generator = "shares";
  algorithm.arguments = {buffer("x", false, kFloat32, 2), buffer("y", true, kFloat32, 2)};
  algorithm.symbols = {{"m", {{"x", 1}, {"y", 1}}}, {"n", {{"x", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n"};
  Stage peak = stage("peak", {"m"}, kFloat32, "(constant f32 -3.4028235e+38)"), total = stage("total", {"m"}, kFloat32, "(constant f32 0)");
  peak.updates = {over_row("(max f32 (load f32 peak 0 m) (load f32 x.in 0 (reduction i32 k) m))")};
  total.updates = {over_row("(add f32 (load f32 total 0 m) (load f32 e 0 (reduction i32 k) m))")};
  algorithm.stages = {stage("x.in", {"d0", "d1"}, kFloat32, "(load f32 x 0 d0 d1)"), peak,
                      stage("e", {"n", "m"}, kFloat32, "(call f32 exp (sub f32 (load f32 x.in 0 n m) (load f32 peak 0 m)))"), total,
                      stage("y", {"n", "m"}, kFloat32, "(div f32 (load f32 e 0 n m) (load f32 total 0 m))")};
  algorithm.outputs = {"y"};
  return algorithm;
}

Algorithm scaled_rows() {
  Algorithm algorithm;
  algorithm.generator = "scaled_rows";
  algorithm.contract = Contract::strict;
  algorithm.arguments = {buffer("x", false, kBfloat16, 2), buffer("y", true, kFloat32, 2), buffer("scales", true, kFloat32, 1)};
  algorithm.symbols = {{"m", {{"x", 1}, {"y", 1}, {"scales", 0}}}, {"n", {{"x", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n"};
  Stage peak = stage("peak", {"m"}, kFloat32, "(constant f32 0)");
  peak.updates = {over_row("(max f32 (load f32 peak 0 m) (call f32 abs (cast f32 (load bf16 x.in 0 (reduction i32 k) m))))")};
  algorithm.stages = {stage("x.in", {"d0", "d1"}, kBfloat16, "(load bf16 x 0 d0 d1)"), peak,
                      stage("row", {"m"}, kFloat32, "(div f32 (max f32 (load f32 peak 0 m) (constant f32 0.001953125)) (constant f32 448))"),
                      stage("y", {"n", "m"}, kFloat32, "(div f32 (cast f32 (load bf16 x.in 0 n m)) (load f32 row 0 m))"),
                      stage("scales", {"m"}, kFloat32, "(load f32 row 0 m)")};
  algorithm.outputs = {"y", "scales"};
  return algorithm;
}

namespace {

// As dsl/float8_halide.h writes it, of an f32 `value`: 3 bits of mantissa from exponent -6 on, or 2 from -14 on.
std::string encoded(bool is_e5m2, const std::string& value) {
  std::string text =
      "(let u8 bits (reinterpret u32 VALUE) (let u8 magnitude (call u32 bitwise_and (variable u32 bits) (constant u32 2147483647)) "
      "(let u8 exponent (call u32 shift_right (variable u32 magnitude) (constant u32 23)) "
      "(let u8 significand (call u32 bitwise_or (call u32 bitwise_and (variable u32 magnitude) (constant u32 8388607)) (constant u32 8388608)) "
      "(let u8 shift (add u32 (constant u32 DROPPED) (min u32 (sub u32 (constant u32 SMALLEST) (min u32 (variable u32 exponent) (constant u32 SMALLEST))) (constant u32 LOST))) "
      "(let u8 odd (call u32 bitwise_and (call u32 shift_right (variable u32 significand) (variable u32 shift)) (constant u32 1)) "
      "(let u8 below (sub u32 (call u32 shift_left (constant u32 1) (sub u32 (variable u32 shift) (constant u32 1))) (constant u32 1)) "
      "(let u8 rounded (call u32 shift_right (add u32 (add u32 (variable u32 significand) (variable u32 below)) (variable u32 odd)) (variable u32 shift)) "
      "(let u8 binade (sub u32 (max u32 (variable u32 exponent) (constant u32 SMALLEST)) (constant u32 SMALLEST)) "
      "(let u8 code (add u32 (call u32 shift_left (variable u32 binade) (constant u32 MANTISSA)) (variable u32 rounded)) "
      "(cast u8 (select u32 (gt bool (variable u32 magnitude) (constant u32 2139095040)) (constant u32 127) "
      "(call u32 bitwise_or (min u32 (variable u32 code) (constant u32 LARGEST)) "
      "(call u32 bitwise_and (call u32 shift_right (variable u32 bits) (constant u32 24)) (constant u32 128)))))))))))))))";
  const std::pair<std::string, std::string> words[] = {{"DROPPED", is_e5m2 ? "21" : "20"}, {"SMALLEST", is_e5m2 ? "113" : "121"}, {"LOST", is_e5m2 ? "4" : "5"},
                                                       {"MANTISSA", is_e5m2 ? "2" : "3"},   {"LARGEST", is_e5m2 ? "123" : "126"},  {"VALUE", value}};
  for (const auto& [word, number] : words)
    for (std::size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, word.size(), number);
  return text;
}

}  // namespace

Algorithm coded_rows() {
  Algorithm algorithm = scaled_rows();
  algorithm.generator = "coded_rows";
  algorithm.arguments[1] = buffer("y", true, kUInt8, 2);
  algorithm.stages[3] = stage("scaled", {"n", "m"}, kFloat32, "(div f32 (cast f32 (load bf16 x.in 0 n m)) (load f32 row 0 m))");
  algorithm.stages.insert(algorithm.stages.begin() + 4, stage("y", {"n", "m"}, kUInt8, encoded(false, "(load f32 scaled 0 n m)").c_str()));
  return algorithm;
}

Algorithm codes(bool is_e5m2) {
  Algorithm algorithm;
  algorithm.generator = "codes";
  algorithm.contract = Contract::strict;
  algorithm.arguments = {buffer("x", false, kFloat32, 2), buffer("y", true, kUInt8, 2)};
  algorithm.symbols = {{"m", {{"x", 1}, {"y", 1}}}, {"n", {{"x", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n"};
  algorithm.stages = {stage("x.in", {"d0", "d1"}, kFloat32, "(load f32 x 0 d0 d1)"), stage("y", {"n", "m"}, kUInt8, encoded(is_e5m2, "(load f32 x.in 0 n m)").c_str())};
  algorithm.outputs = {"y"};
  return algorithm;
}

Algorithm turn() {
  Algorithm algorithm;
  algorithm.generator = "turn";
  algorithm.contract = Contract::strict;
  algorithm.arguments = {buffer("x", false, kFloat32, 2), buffer("z", false, kFloat32, 2), buffer("y", true, kFloat32, 2)};
  algorithm.symbols = {{"m", {{"x", 0}, {"z", 1}, {"y", 1}}}, {"n", {{"x", 1}, {"z", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n"};
  algorithm.stages = {stage("x.in", {"d0", "d1"}, kFloat32, "(load f32 x 0 d0 d1)"), stage("z.in", {"d0", "d1"}, kFloat32, "(load f32 z 0 d0 d1)"),
                      stage("y", {"n", "m"}, kFloat32, "(add f32 (mul f32 (constant f32 2) (load f32 x.in 0 m n)) (load f32 z.in 0 n m))")};
  algorithm.outputs = {"y"};
  return algorithm;
}

namespace {

Algorithm dot(bool by_terms) {
  Algorithm algorithm;
  algorithm.generator = by_terms ? "dot_by_terms" : "dot_by_columns";
  algorithm.arguments = {buffer("x", false, kBfloat16, 2), buffer("w", false, kBfloat16, 2), buffer("bias", false, kBfloat16, 1), buffer("y", true, kBfloat16, 2)};
  algorithm.symbols = {{"k", {{"x", 0}, {"w", by_terms ? 0 : 1}}}, {"m", {{"x", 1}, {"y", 1}}}, {"n", {{"w", by_terms ? 1 : 0}, {"bias", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n", "k"};
  Stage c = stage("c", {"n", "m"}, kFloat32, "(constant f32 0)");
  Update update;
  update.indices = {e("n"), e("m")};
  update.values = {e(by_terms ? "(add f32 (load f32 c 0 n m) (mul f32 (cast f32 (load bf16 x.in 0 (reduction i32 k) m)) (cast f32 (load bf16 w.in 0 (reduction i32 k) n))))"
                              : "(add f32 (load f32 c 0 n m) (mul f32 (cast f32 (load bf16 x.in 0 (reduction i32 k) m)) (cast f32 (load bf16 w.in 0 n (reduction i32 k)))))")};
  update.reduction = {{"k", e("0"), e("(extent i32 x.extent.0)")}};
  c.updates = {update};
  algorithm.stages = {stage("x.in", {"d0", "d1"}, kBfloat16, "(load bf16 x 0 d0 d1)"), stage("w.in", {"d0", "d1"}, kBfloat16, "(load bf16 w 0 d0 d1)"),
                      stage("bias.in", {"d0"}, kBfloat16, "(load bf16 bias 0 d0)"), c,
                      stage("y", {"n", "m"}, kBfloat16, "(cast bf16 (add f32 (load f32 c 0 n m) (cast f32 (load bf16 bias.in 0 n))))")};
  algorithm.outputs = {"y"};
  return algorithm;
}

}  // namespace

Algorithm dot_by_terms() { return dot(true); }
Algorithm dot_by_columns() { return dot(false); }

namespace {

// A sum of products of x and `weights` for each element, and the same rounded.
std::vector<Stage> product(const std::string& name, const std::string& weights, bool by_terms) {
  Stage sum = stage(name + "_sum", {"n", "m"}, kFloat32, "(constant f32 0)");
  Update update;
  update.indices = {e("n"), e("m")};
  const std::string at = by_terms ? "(reduction i32 k) n" : "n (reduction i32 k)";
  update.values = {e(("(add f32 (load f32 " + name + "_sum 0 n m) (mul f32 (cast f32 (load bf16 x.in 0 (reduction i32 k) m)) (cast f32 (load bf16 " + weights + ".in 0 " + at + "))))").c_str())};
  update.reduction = {{"k", e("0"), e("(extent i32 x.extent.0)")}};
  sum.updates = {update};
  return {sum, stage(name, {"n", "m"}, kBfloat16, ("(cast bf16 (load f32 " + name + "_sum 0 n m))").c_str())};
}

Algorithm gated(bool by_terms) {
  Algorithm algorithm;
  algorithm.generator = by_terms ? "gated_by_terms" : "gated_by_columns";
  algorithm.arguments = {buffer("x", false, kBfloat16, 2), buffer("wg", false, kBfloat16, 2), buffer("wu", false, kBfloat16, 2), buffer("y", true, kBfloat16, 2)};
  const int k = by_terms ? 0 : 1, n = 1 - k;
  algorithm.symbols = {{"k", {{"x", 0}, {"wg", k}, {"wu", k}}}, {"m", {{"x", 1}, {"y", 1}}}, {"n", {{"wg", n}, {"wu", n}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n", "k"};
  for (const char* input : {"x", "wg", "wu"}) algorithm.stages.push_back(stage(std::string(input) + ".in", {"d0", "d1"}, kBfloat16, ("(load bf16 " + std::string(input) + " 0 d0 d1)").c_str()));
  for (const auto& [name, weights] : {std::pair{"gate", "wg"}, std::pair{"up", "wu"}})
    for (Stage& one : product(name, weights, by_terms)) algorithm.stages.push_back(std::move(one));
  algorithm.stages.push_back(stage("silu", {"n", "m"}, kFloat32,
                                   "(div f32 (cast f32 (load bf16 gate 0 n m)) (add f32 (constant f32 1) (call f32 exp (sub f32 (constant f32 0) (cast f32 (load bf16 gate 0 n m))))))"));
  algorithm.stages.push_back(stage("y", {"n", "m"}, kBfloat16, "(cast bf16 (mul f32 (load f32 silu 0 n m) (cast f32 (load bf16 up 0 n m))))"));
  algorithm.outputs = {"y"};
  return algorithm;
}

}  // namespace

Algorithm feed_forward() {
  Algorithm algorithm = gated(false);
  algorithm.generator = "feed_forward";
  algorithm.arguments.insert(algorithm.arguments.end() - 1, buffer("wd", false, kBfloat16, 2));
  algorithm.symbols = {{"k", {{"x", 0}, {"wg", 1}, {"wu", 1}}}, {"m", {{"x", 1}, {"y", 1}}}, {"n", {{"wg", 0}, {"wu", 0}, {"wd", 1}}}, {"h", {{"wd", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "h", "n", "k"};
  algorithm.stages.back().name = "hidden";
  algorithm.stages.insert(algorithm.stages.begin(), stage("wd.in", {"d0", "d1"}, kBfloat16, "(load bf16 wd 0 d0 d1)"));
  Stage sum = stage("down_sum", {"h", "m"}, kFloat32, "(constant f32 0)");
  Update update;
  update.indices = {e("h"), e("m")};
  update.values = {e("(add f32 (load f32 down_sum 0 h m) (mul f32 (cast f32 (load bf16 hidden 0 (reduction i32 n) m)) (cast f32 (load bf16 wd.in 0 h (reduction i32 n)))))")};
  update.reduction = {{"n", e("0"), e("(extent i32 wd.extent.1)")}};
  sum.updates = {update};
  algorithm.stages.push_back(sum);
  algorithm.stages.push_back(stage("y", {"h", "m"}, kBfloat16, "(cast bf16 (load f32 down_sum 0 h m))"));
  return algorithm;
}

Algorithm gated_by_terms() { return gated(true); }
Algorithm gated_by_columns() { return gated(false); }

namespace {

// What a code of E4M3 stands for.
std::string decoded(const std::string& code) {
  const std::string wide = "(cast u32 " + code + ")", magnitude = "(call u32 bitwise_and " + wide + " (constant u32 127))";
  const std::string normal = "(add u32 (call u32 shift_left " + magnitude + " (constant u32 20)) (constant u32 1006632960))";
  const std::string subnormal = "(reinterpret u32 (mul f32 (cast f32 (cast i32 " + magnitude + ")) (constant f32 0.001953125)))";
  const std::string finite = "(select u32 (lt bool " + magnitude + " (constant u32 8)) " + subnormal + " " + normal + ")";
  const std::string number = "(select u32 (gt bool " + magnitude + " (constant u32 126)) (constant u32 2143289344) " + finite + ")";
  return "(reinterpret f32 (call u32 bitwise_or " + number + " (call u32 shift_left (call u32 bitwise_and " + wide + " (constant u32 128)) (constant u32 24))))";
}

}  // namespace

Algorithm dot_of_codes() {
  Algorithm algorithm;
  algorithm.generator = "dot_of_codes";
  algorithm.arguments = {buffer("x", false, kUInt8, 2), buffer("w", false, kUInt8, 2), buffer("row_scale", false, kFloat32, 1), buffer("column_scale", false, kFloat32, 1),
                         buffer("y", true, kBfloat16, 2)};
  algorithm.symbols = {{"k", {{"x", 0}, {"w", 0}}}, {"m", {{"x", 1}, {"row_scale", 0}, {"y", 1}}}, {"n", {{"w", 1}, {"column_scale", 0}, {"y", 0}}}};
  algorithm.symbol_order = {"m", "n", "k"};
  Stage c = stage("c", {"n", "m"}, kFloat32, "(constant f32 0)");
  Update update;
  update.indices = {e("n"), e("m")};
  const std::string x = decoded("(load u8 x.in 0 (reduction i32 k) m)"), w = decoded("(load u8 w.in 0 (reduction i32 k) n)");
  update.values = {e(("(add f32 (load f32 c 0 n m) (mul f32 " + x + " " + w + "))").c_str())};
  update.reduction = {{"k", e("0"), e("(extent i32 x.extent.0)")}};
  c.updates = {update};
  algorithm.stages = {stage("x.in", {"d0", "d1"}, kUInt8, "(load u8 x 0 d0 d1)"),
                      stage("w.in", {"d0", "d1"}, kUInt8, "(load u8 w 0 d0 d1)"),
                      stage("row_scale.in", {"d0"}, kFloat32, "(load f32 row_scale 0 d0)"),
                      stage("column_scale.in", {"d0"}, kFloat32, "(load f32 column_scale 0 d0)"),
                      c,
                      stage("y", {"n", "m"}, kBfloat16, "(cast bf16 (mul f32 (mul f32 (load f32 c 0 n m) (load f32 row_scale.in 0 m)) (load f32 column_scale.in 0 n)))")};
  algorithm.outputs = {"y"};
  return algorithm;
}

Algorithm shift() {
  Algorithm algorithm;
  algorithm.generator = "shift";
  algorithm.arguments = {buffer("x", false, kFloat32, 2), buffer("y", true, kFloat32, 2)};
  algorithm.symbols = {{"m", {{"x", 1}, {"y", 1}}}, {"n", {{"y", 0}}}, {"w", {{"x", 0}}}};
  algorithm.symbol_order = {"m", "n", "w"};
  algorithm.stages = {stage("x.in", {"d0", "d1"}, kFloat32, "(load f32 x 0 d0 d1)"), stage("y", {"n", "m"}, kFloat32, "(load f32 x.in 0 (add i32 n 1) m)")};
  algorithm.outputs = {"y"};
  return algorithm;
}

}  // namespace kiln::tests
