#include "dsl/problem.h"

#include <gtest/gtest.h>

#include <set>

#include "dsl/error.h"
#include "tests/support/small_algorithms.h"

namespace kiln {
namespace {

Algorithm with_params(std::map<std::string, std::string> params) {
  Algorithm algorithm = tests::product();
  for (auto& [name, value] : params) algorithm.params[name] = value;
  return algorithm;
}

std::string resolved(const std::string& text, const Algorithm& algorithm) { return print(resolve(parse_problem_text(text), algorithm)); }

// What is said of a text, through parsing, params and symbols.
std::string error_of(const std::string& text, const Algorithm& algorithm = tests::product()) {
  try {
    resolved(text, algorithm);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(ProblemTest, extents_left_out_come_from_estimates) {
  EXPECT_EQ(resolved("product()", tests::product()), "product(m=64, n=64, k=64, f32)");
  EXPECT_EQ(resolved(" product ( k = 5 ,n=3 ) ", tests::product()), "product(m=64, n=3, k=5, f32)");
}

TEST(ProblemTest, a_place_stands_for_its_symbol) {
  EXPECT_EQ(resolved("product(A.0=5, C.1=7)", tests::product()), "product(m=7, n=64, k=5, f32)");
  EXPECT_EQ(resolved("blurs(input.0=9, input.1=8, out.0=7, out.1=6)", tests::blurs()), "blurs(input.0=9, input.1=8, out.0=7, out.1=6)");
}

TEST(ProblemTest, defaults_are_left_out_and_the_rest_prints_in_order) {
  EXPECT_EQ(resolved("product(relu=true, m=1, f32, B.order=nk)", tests::product()), "product(m=1, n=64, k=64, f32)");
  EXPECT_EQ(resolved("product(B.order=kn, relu=false, A.order=10, bf16, m=1)", with_params({{"relu", "false"}, {"type", "bfloat16"}})),
            "product(m=1, n=64, k=64, bf16, relu=false, A.order=mk, B.order=kn)");
}

TEST(ProblemTest, a_default_type_is_left_out_too_where_the_operator_says_so) {
  Algorithm algorithm = tests::product();
  algorithm.leaves_out_default_type = true;
  EXPECT_EQ(resolved("product(m=1)", algorithm), "product(m=1, n=64, k=64)");
  EXPECT_EQ(resolved("product(m=1, f32)", algorithm), "product(m=1, n=64, k=64)");
  algorithm.params["type"] = "bfloat16";
  EXPECT_EQ(resolved("product(m=1, bf16)", algorithm), "product(m=1, n=64, k=64, bf16)");
  const Problem problem = resolve(parse_problem_text("product(m=1, bf16)"), algorithm);
  EXPECT_EQ(resolve(parse_problem_text(print(problem)), algorithm), problem);
}

TEST(ProblemTest, printed_text_resolves_to_the_same_problem) {
  const Algorithm algorithm = with_params({{"relu", "a value, with \"marks\""}});
  const Problem problem = resolve(parse_problem_text("product(m=1, relu=\"a value, with \\\"marks\\\"\", B.order=kn)"), algorithm);
  EXPECT_EQ(print(problem), "product(m=1, n=64, k=64, f32, relu=\"a value, with \\\"marks\\\"\", B.order=kn)");
  EXPECT_EQ(resolve(parse_problem_text(print(problem)), algorithm), problem);
}

TEST(ProblemTest, params_are_told_apart_before_the_symbols_are_known) {
  const std::map<std::string, std::string> defaults = {{"relu", "true"}, {"scale", "1.000000"}, {"type", "float32"}};
  const std::map<std::string, std::string> expected = {{"relu", "false"}, {"type", "bfloat16"}};
  EXPECT_EQ(params_of(parse_problem_text("product(m=3, bf16, relu=false, scale=1.0)"), defaults, "type"), expected);
  EXPECT_EQ(params_of(parse_problem_text("product(f64)"), {{"type", "f32"}}, "type"), (std::map<std::string, std::string>{{"type", "f64"}}));
}

TEST(ProblemTest, extents_of_arguments_follow_their_symbols) {
  const Problem problem = resolve(parse_problem_text("product(m=3, n=5, k=7)"), tests::product());
  EXPECT_EQ(extent_of(problem, tests::product(), "A", 0), 7);
  EXPECT_EQ(extent_of(problem, tests::product(), "A", 1), 3);
  EXPECT_EQ(extent_of(problem, tests::product(), "C", 0), 5);
}

TEST(ProblemTest, every_field_changes_the_digest) {
  const Digest algorithm = digest("algorithm", "a");
  const Problem sample = resolve(parse_problem_text("product(m=3)"), tests::product());
  std::set<Digest> digests = {digest(sample, algorithm), digest(sample, digest("algorithm", "b"))};
  const auto change = [&](auto&& mutate) {
    Problem problem = sample;
    mutate(problem);
    digests.insert(digest(problem, algorithm));
  };
  change([](Problem& p) { p.operator_name = "other"; });
  change([](Problem& p) { p.extents["m"] = 4; });
  change([](Problem& p) { p.extents["n"] = 4; });
  change([](Problem& p) { p.extents["k"] = 4; });
  change([](Problem& p) { p.type = "bf16"; });
  change([](Problem& p) { p.params["relu"] = "false"; });
  change([](Problem& p) { p.orders["B"] = "kn"; });
  EXPECT_EQ(digests.size(), 9u);
}

TEST(ProblemTest, what_cannot_be_read_is_named_with_its_column) {
  EXPECT_EQ(error_of(""), "problem, column 1: expected the name of an operator, found the end of the text");
  EXPECT_EQ(error_of("product"), "problem, column 8: expected '(' after 'product', found the end of the text");
  EXPECT_EQ(error_of("product(m=)"), "problem, column 11: expected a value after 'm=', found ')'");
  EXPECT_EQ(error_of("product(m=1"), "problem, column 12: expected ',' or ')', found the end of the text");
  EXPECT_EQ(error_of("product(m=1,)"), "problem, column 13: expected symbol=number, param=value or a type after ',', found ')'");
  EXPECT_EQ(error_of("product(=1)"), "problem, column 9: expected symbol=number, param=value or a type, found '='");
  EXPECT_EQ(error_of("product(relu=\"x)"), "problem, column 14: the value of 'relu' has no closing quote");
  EXPECT_EQ(error_of("product(m=1) n"), "problem, column 14: expected nothing after ')', found 'n'");
}

TEST(ProblemTest, what_the_operator_does_not_have_is_answered_with_what_it_has) {
  EXPECT_EQ(error_of("product(q=1)"), "problem, column 9: product has no symbol or parameter 'q'; its symbols are m, n, k; its parameters are relu, type");
  EXPECT_EQ(error_of("product(m=x)"), "problem, column 9: 'm' is an extent and needs a number, found 'x'");
  EXPECT_EQ(error_of("product(m=0)"), "problem, column 9: 'm' is 0; an extent is at least 1 and at most 2147483647");
  EXPECT_EQ(error_of("product(m=1, m=2)"), "problem, column 14: the extent 'm' is given twice");
  EXPECT_EQ(error_of("product(k=1, A.0=2)"), "problem, column 14: 'A.0' is 2, but it is the same extent as 'k', which is 1");
  EXPECT_EQ(error_of("product(f32, f64)"), "problem, column 14: the parameter 'type' is given twice");
  EXPECT_EQ(error_of("product(f33)"),
            "problem, column 9: 'f33' is neither a type nor name=value; the types are bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64");
  EXPECT_EQ(error_of("product(B.order=nn)"), "problem, column 9: 'B.order' must name each dimension of B once, innermost first, as in 'nk'; found 'nn'");
  EXPECT_EQ(error_of("product(D.order=nk)"),
            "problem, column 9: 'D.order' orders the dimensions of 'D', which is no buffer of product; its buffers are A, B, C");
  EXPECT_EQ(error_of("product(relu=false)"), "problem of product: it asks for relu=false, but the algorithm was read with the defaults");
  EXPECT_EQ(error_of("other()"), "the problem is of operator 'other', the algorithm of 'product'");
  EXPECT_EQ(error_of("blurs(input.0=3)", tests::blurs()),
            "problem of blurs: 'input.1' is not given and input.1 has no estimate; write blurs(input.1=…)");
  EXPECT_EQ(error_of("blurs(f32)", tests::blurs()), "problem, column 7: blurs takes no bare type, found 'f32'");
}

}  // namespace
}  // namespace kiln
