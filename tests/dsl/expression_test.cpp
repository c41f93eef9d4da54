#include "dsl/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "dsl/error.h"

namespace kiln {
namespace {

ExpressionPtr random_tree(std::mt19937& random, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  static const std::vector<DType> types{kFloat32, kFloat64, kInt32, kBool, {TypeClass::brain_float, 16}, {TypeClass::unsigned_int, 8}};
  Expression e;
  e.type = types[static_cast<std::size_t>(pick(static_cast<int>(types.size())))];
  const auto child = [&] { return random_tree(random, depth - 1); };
  switch (depth == 0 ? pick(4) : pick(10)) {
    case 0: e.op = Op::loop; e.name = pick(2) == 0 ? "x" : "odd name \"\\\n"; break;
    case 1: e.op = Op::reduction; e.name = "r.x"; break;
    case 2:
      if (e.type.is_float())
        e.value = e.type == kFloat32 ? static_cast<double>(static_cast<float>(pick(1000)) / 7.0f) : pick(1000) / 7.0;
      else if (e.type.kind == TypeClass::unsigned_int)
        e.value = static_cast<std::uint64_t>(pick(1000));
      else
        e.value = static_cast<std::int64_t>(pick(1000) - 500);
      break;
    case 3: e.op = Op::extent; e.name = "A.extent.0"; break;
    case 4: e.op = Op::load; e.name = "blur#2"; e.component = pick(3); e.args = {child(), child()}; break;
    case 5: e.op = Op::select; e.args = {child(), child(), child()}; break;
    case 6: e.op = Op::let; e.name = "t0"; e.args = {child(), child()}; break;
    case 7: e.op = Op::call; e.name = "exp"; e.args = {child()}; break;
    case 8: e.op = Op::cast; e.args = {child()}; break;
    default: e.op = static_cast<Op>(static_cast<int>(Op::add) + pick(15)); e.args = {child(), child()}; break;
  }
  return std::make_shared<const Expression>(std::move(e));
}

std::string message_of(const std::string& text) {
  try {
    parse_expression(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Expression, random_trees_print_and_parse_back_to_equal_trees) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const ExpressionPtr tree = random_tree(random, 4);
    const std::string text = print(*tree);
    const ExpressionPtr back = parse_expression(text);
    ASSERT_TRUE(equal(*tree, *back)) << text;
    ASSERT_EQ(print(*back), text);
  }
}

TEST(Expression, loops_and_small_integers_print_bare) {
  EXPECT_EQ(print(*parse_expression("(add i32 n 1)")), "(add i32 n 1)");
  EXPECT_EQ(parse_expression("n")->op, Op::loop);
  EXPECT_EQ(std::get<std::int64_t>(parse_expression("-5")->value), -5);
}

TEST(Expression, constants_keep_every_bit) {
  for (const char* text : {"(constant f64 -0)", "(constant f64 nan)", "(constant f32 inf)", "(constant f64 -inf)", "(constant f32 0.1)", "(constant f64 5e-324)",
                           "(constant u64 18446744073709551615)", "(constant i64 -9223372036854775808)", "(constant u64 \"a \\\"b\\\" \\x0a\")"})
    EXPECT_EQ(print(*parse_expression(text)), text);
  EXPECT_EQ(std::get<double>(parse_expression("(constant f32 0.1)")->value), static_cast<double>(0.1f));
  EXPECT_FALSE(equal(*parse_expression("(constant f64 0)"), *parse_expression("(constant f64 -0)")));
  EXPECT_TRUE(equal(*parse_expression("(constant f64 nan)"), *parse_expression("(constant f64 nan)")));
}

TEST(Expression, equality_sees_every_field) {
  const std::string base = "(load f32 c 0 n m)";
  for (const char* other : {"(load f64 c 0 n m)", "(load f32 d 0 n m)", "(load f32 c 1 n m)", "(load f32 c 0 m n)", "(load f32 c 0 n)", "(call f32 c n m)"})
    EXPECT_FALSE(equal(*parse_expression(base), *parse_expression(other))) << other;
}

TEST(Expression, without_lets_each_variable_is_what_it_was_bound_to) {
  const auto written = [](const char* text) { return print(*without_lets(parse_expression(text))); };
  EXPECT_EQ(written("(let i32 t0 (add i32 n 1) (mul i32 (variable i32 t0) (variable i32 t0)))"), "(mul i32 (add i32 n 1) (add i32 n 1))");
  EXPECT_EQ(written("(let i32 t (add i32 n 1) (let i32 t (mul i32 (variable i32 t) 2) (sub i32 (variable i32 t) m)))"), "(sub i32 (mul i32 (add i32 n 1) 2) m)");
  EXPECT_EQ(written("(add i32 (let i32 t n (variable i32 t)) (variable i32 t))"), "(add i32 n (variable i32 t))");
  EXPECT_EQ(written("(add i32 (variable i32 t) (let i32 t n (let i32 u (variable i32 t) (mul i32 (variable i32 u) (variable i32 t)))))"), "(add i32 (variable i32 t) (mul i32 n n))");
  const ExpressionPtr product = without_lets(parse_expression("(let i32 t0 (add i32 n 1) (mul i32 (variable i32 t0) (variable i32 t0)))"));
  EXPECT_EQ(product->args[0], product->args[1]) << "one node in both places";
  const ExpressionPtr plain = parse_expression("(mul i32 (add i32 n 1) m)");
  EXPECT_EQ(without_lets(plain), plain) << "nothing to write out, nothing copied";
}

TEST(Expression, errors_say_where_and_what) {
  EXPECT_EQ(message_of("(plus i32 1 2)"), "expression, column 2: expected an operation, found 'plus'");
  EXPECT_EQ(message_of("(add int 1 2)"), "expression, column 6: expected a type, found 'int'");
  EXPECT_EQ(message_of("(add i32 1"), "expression, column 11: expected ')', found the end");
  EXPECT_EQ(message_of("(add i32 1)"), "expression, column 11: expected 2 arguments of 'add', found 1");
  EXPECT_EQ(message_of("(constant i32 1.5)"), "expression, column 15: expected a number, found '1.5'");
  EXPECT_EQ(message_of("n m"), "expression, column 3: expected the end, found 'm'");
  EXPECT_EQ(message_of("(load f32 7 0)"), "expression, column 11: expected a name, found '7'");
  EXPECT_EQ(message_of(""), "expression, column 1: expected a number, found the end");
  EXPECT_EQ(message_of("(loop i32 \"x"), "expression, column 13: expected '\"', found the end");
}

}  // namespace
}  // namespace kiln
