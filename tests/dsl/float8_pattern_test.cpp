// What generators make of encode_float8 and decode_float8, read into our own trees, is recognised; anything else, however near, is not.
#include "dsl/float8_pattern.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/float8_halide.h"
#include "dsl/read_algorithm.h"
#include "tests/dsl/halide_runs.h"

namespace {

// Codes of x, the numbers of given codes, and both within larger expressions.
class Coded : public Halide::Generator<Coded> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};
  GeneratorParam<bool> e5m2{"e5m2", false};

  Input<Buffer<>> x{"x", 1};
  Input<Buffer<std::uint8_t, 1>> codes{"codes"};
  Output<Buffer<std::uint8_t, 1>> encoded{"encoded"};
  Output<Buffer<float, 1>> decoded{"decoded"};
  Output<Buffer<std::uint8_t, 1>> computed{"computed"};
  Output<Buffer<float, 1>> within{"within"};

  void configure() { x.set_type(type); }

  void generate() {
    const kiln::Float8 format = e5m2 ? kiln::kE5M2 : kiln::kE4M3FN;
    Var n("n");
    encoded(n) = kiln::encode_float8(format, x(n));
    decoded(n) = kiln::decode_float8(format, codes(n));
    computed(n) = kiln::encode_float8(format, cast<float>(x(n)) * cast<float>(x(n)) + 1.0f);
    within(n) = kiln::decode_float8(format, kiln::encode_float8(format, x(n))) / (cast<float>(x(n)) + kiln::decode_float8(format, codes(n)));
  }

  void schedule() {
    x.set_estimates({{0, 64}});
    codes.set_estimates({{0, 64}});
    for (auto* output : {&encoded, &computed}) output->set_estimates({{0, 64}});
    for (auto* output : {&decoded, &within}) output->set_estimates({{0, 64}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Coded, kiln_test_coded)

namespace kiln {
namespace {

using Match = std::optional<Float8Match>;

struct Case {
  const char* type;
  bool is_e5m2;
  const char* widened;  // how f32 arithmetic reads x
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.type << (c.is_e5m2 ? " e5m2" : " e4m3fn"); }

std::string described(const Match& match) { return match ? std::string(match->format.name) + " of " + print(*match->value) : "no match"; }

Algorithm coded(const Case& c) { return read_algorithm("kiln_test_coded", {{"type", c.type}, {"e5m2", c.is_e5m2 ? "true" : "false"}}, tests::test_target()); }

const Expression& value_of(const Algorithm& algorithm, const char* stage) { return *algorithm.stage(stage).values[0]; }

class Float8Pattern : public testing::TestWithParam<Case> {
 protected:
  Algorithm algorithm = coded(GetParam());
  std::string format = GetParam().is_e5m2 ? "e5m2" : "e4m3fn";
};

INSTANTIATE_TEST_SUITE_P(, Float8Pattern,
                         testing::Values(Case{"f32", false, "(load f32 x.in 0 n)"}, Case{"f32", true, "(load f32 x.in 0 n)"},
                                         Case{"f16", false, "(cast f32 (load f16 x.in 0 n))"}, Case{"f16", true, "(cast f32 (load f16 x.in 0 n))"},
                                         Case{"bf16", false, "(cast f32 (load bf16 x.in 0 n))"}, Case{"bf16", true, "(cast f32 (load bf16 x.in 0 n))"}),
                         [](const auto& test) { return std::string(test.param.type) + (test.param.is_e5m2 ? "_e5m2" : "_e4m3fn"); });

TEST_P(Float8Pattern, an_encoding_is_known_by_its_format_and_value) {
  EXPECT_EQ(described(match_encode_float8(value_of(algorithm, "encoded"))), format + " of " + GetParam().widened) << print(value_of(algorithm, "encoded"));
  EXPECT_EQ(described(match_decode_float8(value_of(algorithm, "encoded"))), "no match");
}

TEST_P(Float8Pattern, a_decoding_is_known_by_its_format_and_code) {
  EXPECT_EQ(described(match_decode_float8(value_of(algorithm, "decoded"))), format + " of (load u8 codes.in 0 n)") << print(value_of(algorithm, "decoded"));
  EXPECT_EQ(described(match_encode_float8(value_of(algorithm, "decoded"))), "no match");
}

TEST_P(Float8Pattern, the_value_may_be_computed_on_the_spot) {
  const std::string x = GetParam().widened;
  EXPECT_EQ(described(match_encode_float8(value_of(algorithm, "computed"))), format + " of (add f32 (mul f32 " + x + " " + x + ") (constant f32 1))");
}

TEST_P(Float8Pattern, both_are_found_within_a_larger_expression_without_lets) {
  const ExpressionPtr whole = without_lets(algorithm.stage("within").values[0]);
  EXPECT_EQ(described(match_decode_float8(*whole)), "no match");
  ASSERT_EQ(whole->op, Op::div);
  const Match outer = match_decode_float8(*whole->args[0]);
  ASSERT_TRUE(outer.has_value()) << print(*whole->args[0]);
  EXPECT_EQ(outer->format.name, format);
  EXPECT_EQ(described(match_encode_float8(*outer->value)), format + " of " + GetParam().widened);
  ASSERT_EQ(whole->args[1]->op, Op::add);
  EXPECT_EQ(described(match_decode_float8(*whole->args[1]->args[1])), format + " of (load u8 codes.in 0 n)");
}

// The tree with its node number `at` changed, counted parents first. `at` is counted down.
ExpressionPtr changed_at(const ExpressionPtr& tree, int& at, const std::function<void(Expression&)>& change) {
  Expression copy = *tree;
  if (at-- == 0) {
    change(copy);
    return std::make_shared<const Expression>(std::move(copy));
  }
  for (ExpressionPtr& arg : copy.args) arg = changed_at(arg, at, change);
  return std::make_shared<const Expression>(std::move(copy));
}

// Makes another node of it: another number, another function, another operation of as many arguments, another place in memory.
void disturb(Expression& node) {
  if (auto* number = std::get_if<std::uint64_t>(&node.value); number != nullptr && node.op == Op::constant) {
    ++*number;
  } else if (node.op == Op::constant) {
    node.value = std::get<double>(node.value) * 2;
  } else if (node.op == Op::call || node.op == Op::load) {
    node.name += "_";
  } else if (node.op == Op::loop) {
    node.name = "other";
  } else if (node.args.size() == 2) {
    node.op = node.op == Op::sub ? Op::add : Op::sub;
  } else if (node.op == Op::select) {
    std::swap(node.args[1], node.args[2]);
  } else {
    node.type.bits *= 2;
  }
}

// Disturbs every node of the tree in turn; returns how many there are.
int expect_no_match_when_disturbed(const ExpressionPtr& tree, const std::function<Match(const Expression&)>& match, const char* what) {
  int nodes = 0;
  for_each_node(*tree, [&](const Expression&) { ++nodes; });
  for (int i = 0; i < nodes; ++i) {
    int at = i;
    const ExpressionPtr other = changed_at(tree, at, disturb);
    EXPECT_FALSE(equal(*other, *tree)) << i;
    EXPECT_EQ(described(match(*other)), "no match") << what << ", node " << i << ": " << print(*other);
  }
  return nodes;
}

// One place of the value among eight counts as well: the others keep it.
TEST_P(Float8Pattern, no_node_may_be_another) {
  const int encoding = expect_no_match_when_disturbed(without_lets(algorithm.stage("encoded").values[0]), match_encode_float8, "encoding");
  const int decoding = expect_no_match_when_disturbed(without_lets(algorithm.stage("decoded").values[0]), match_decode_float8, "decoding");
  EXPECT_GT(encoding, 80);
  EXPECT_GT(decoding, 20);
}

TEST(Float8PatternTypes, a_value_of_another_type_is_not_encoded) {
  const Algorithm algorithm = coded({"f32", false, ""});
  std::string text = print(*without_lets(algorithm.stage("encoded").values[0]));
  const std::string load = "(load f32 x.in 0 n)";
  for (std::size_t at = text.find(load); at != std::string::npos; at = text.find(load)) text.replace(at, load.size(), "(load f16 x.in 0 n)");
  EXPECT_EQ(described(match_encode_float8(*parse_expression(text))), "no match");
}

}  // namespace
}  // namespace kiln
