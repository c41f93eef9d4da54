// The rules of correctness, each both ways: comparison, tolerance, inputs, ragged problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "autotune/measure/compare.h"
#include "autotune/measure/inputs.h"
#include "autotune/measure/ragged.h"
#include "dsl/error.h"
#include "dsl/tolerance.h"

namespace kiln::autotune {
namespace {

constexpr DType kHalf{TypeClass::ieee_float, 16}, kBrain{TypeClass::brain_float, 16}, kByte{TypeClass::unsigned_int, 8};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

struct Array {
  Array(DType element_type, const std::vector<double>& values, std::vector<std::int64_t> shape = {})
      : type(element_type), bytes(values.size() * static_cast<std::size_t>(element_type.bytes())),
        extents(shape.empty() ? std::vector<std::int64_t>{static_cast<std::int64_t>(values.size())} : std::move(shape)) {
    for (std::size_t i = 0; i < values.size(); ++i) store_element(bytes.data() + i * static_cast<std::size_t>(type.bytes()), type, values[i]);
  }
  OutputView view() const { return {bytes.data(), type, extents}; }
  DType type;
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> extents;
};

Comparison compared(DType type, const std::vector<double>& got, const std::vector<double>& expected, const Tolerance& tolerance = {}) {
  return compare(Array(type, got).view(), Array(type.is_float() ? kFloat64 : type, expected).view(), tolerance);
}

TEST(Comparison, allows_an_error_relative_to_the_element) {
  EXPECT_TRUE(compared(kFloat32, {100.0009}, {100}, {.relative = 1e-5}).passes);
  EXPECT_FALSE(compared(kFloat32, {100.0011}, {100}, {.relative = 1e-5}).passes);
}

TEST(Comparison, allows_small_elements_the_error_of_the_typical_one) {
  const double rms = std::sqrt((1.0 + 1 + 1 + 0) / 4);
  EXPECT_TRUE(compared(kFloat32, {1, 1, 1, 0.9e-3 * rms}, {1, 1, 1, 0}, {.relative = 1e-3}).passes);
  EXPECT_FALSE(compared(kFloat32, {1, 1, 1, 1.1e-3 * rms}, {1, 1, 1, 0}, {.relative = 1e-3}).passes);
}

TEST(Comparison, allows_half_an_ulp_of_the_output_type_without_any_tolerance) {
  EXPECT_TRUE(compared(kBrain, {1}, {1 + 0x1p-8}).passes);
  EXPECT_FALSE(compared(kBrain, {1}, {1 + 0x1.1p-8}).passes);
  EXPECT_TRUE(compared(kHalf, {2}, {2 + 0x1p-10}).passes);
  EXPECT_FALSE(compared(kHalf, {2}, {2 + 0x1.1p-10}).passes);
}

TEST(Comparison, wants_nan_where_the_reference_has_nan_and_nowhere_else) {
  EXPECT_TRUE(compared(kFloat32, {1, kNan}, {1, kNan}).passes);
  EXPECT_FALSE(compared(kFloat32, {1, kNan}, {1, 1}).passes);
  EXPECT_FALSE(compared(kFloat32, {1, 1}, {1, kNan}).passes);
  EXPECT_FALSE(compared(kFloat32, {1, kNan}, {1, 1}, {.outlier_fraction = 0.9}).passes);
}

TEST(Comparison, wants_the_infinity_of_the_right_sign) {
  EXPECT_TRUE(compared(kFloat32, {kInfinity}, {kInfinity}).passes);
  EXPECT_TRUE(compared(kFloat32, {kInfinity}, {1e39}).passes);
  EXPECT_FALSE(compared(kFloat32, {-kInfinity}, {1e39}).passes);
  EXPECT_FALSE(compared(kFloat32, {kInfinity}, {1e30}).passes);
  EXPECT_FALSE(compared(kFloat32, {1e30}, {kInfinity}).passes);
  EXPECT_TRUE(compared(kHalf, {kInfinity}, {70000}).passes);
}

TEST(Comparison, wants_equal_integers) {
  EXPECT_TRUE(compared(kByte, {1, 255}, {1, 255}).passes);
  EXPECT_FALSE(compared(kByte, {1, 254}, {1, 255}).passes);
  EXPECT_FALSE(compared(kInt32, {-1}, {1}).passes);
  const DType wide{TypeClass::signed_int, 64};
  Array a(wide, {0}), b(wide, {0});
  const std::int64_t big = (std::int64_t{1} << 60) + 1, bigger = big + 1;  // equal as doubles
  std::memcpy(a.bytes.data(), &big, sizeof big);
  std::memcpy(b.bytes.data(), &bigger, sizeof bigger);
  EXPECT_FALSE(compare(a.view(), b.view(), {}).passes);
}

TEST(Comparison, allows_the_declared_fraction_of_outliers_and_counts_them) {
  std::vector<double> expected(1000, 7), got = expected;
  got[10] = 200;
  got[20] = 8;
  const Comparison two = compared(kByte, got, expected, {.outlier_fraction = 2e-3});
  EXPECT_TRUE(two.passes);
  EXPECT_EQ(two.outliers, 2);
  EXPECT_EQ(two.allowed_outliers, 2);
  EXPECT_FALSE(compared(kByte, got, expected, {.outlier_fraction = 1.9e-3}).passes);
}

TEST(Comparison, names_the_worst_element_by_index) {
  const Array got(kFloat32, {1, 2, 3, 4, 5.5, 6}, {3, 2}), expected(kFloat64, {1, 2, 3.1, 4, 5, 6}, {3, 2});
  const Comparison comparison = compare(got.view(), expected.view(), {.relative = 1e-3});
  ASSERT_TRUE(comparison.worst);
  EXPECT_EQ(comparison.worst->index, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(comparison.outliers, 2);
  const Worst worst{{1, 1}, 5.5, 5, 0.0056, 89};
  EXPECT_EQ(describe(worst, "c", {"n", "m"}), "output c, element (n=1, m=1): got 5.5, expected 5 ± 0.0056");
  EXPECT_EQ(describe({{2}, 254, 255, 0, 2}, "pixels", {}), "output pixels, element (d0=2): got 254, expected 255");
}

ExpressionPtr make(Op op, DType type, std::vector<ExpressionPtr> args = {}, const std::string& name = "") {
  auto e = std::make_shared<Expression>();
  e->op = op;
  e->type = type;
  e->name = name;
  e->args = std::move(args);
  return e;
}

ExpressionPtr constant(std::int64_t value) {
  auto e = std::make_shared<Expression>();
  e->type = kInt32;
  e->value = value;
  return e;
}

// c(n) = sum over k of A(k) * 2, then whatever `epilogue` makes of c: one output of `type`.
Algorithm product(DType accumulator, DType type, ExpressionPtr extent, const std::function<ExpressionPtr(ExpressionPtr)>& epilogue) {
  Algorithm algorithm;
  algorithm.arguments = {{.name = "A", .is_output = false, .is_scalar = false, .type = kFloat32, .rank = 1, .estimates = {}, .scalar_estimate = {}, .values = {}, .range = {}},
                         {.name = "y", .is_output = true, .is_scalar = false, .type = type, .rank = 1, .estimates = {}, .scalar_estimate = {}, .values = {}, .range = {}}};
  algorithm.symbols = {{"k", {{"A", 0}}}, {"n", {{"y", 0}}}};
  algorithm.symbol_order = {"n", "k"};
  const ExpressionPtr load = make(Op::load, accumulator, {make(Op::loop, kInt32, {}, "n")}, "c");
  Stage c{"c", {"n"}, {accumulator}, {make(Op::constant, accumulator)}, {}};
  c.updates.push_back({{make(Op::loop, kInt32, {}, "n")}, {make(Op::add, accumulator, {load, make(Op::load, accumulator, {}, "A")})}, {{"k", constant(0), std::move(extent)}}, nullptr});
  algorithm.stages = {c, Stage{"y", {"n"}, {type}, {epilogue(load)}, {}}};
  algorithm.outputs = {"y"};
  return algorithm;
}

Problem problem_of(std::int64_t n, std::int64_t k) {
  Problem problem;
  problem.operator_name = "product";
  problem.extents = {{"n", n}, {"k", k}};
  problem.symbol_order = {"n", "k"};
  return problem;
}

ExpressionPtr extent_of_a() { return make(Op::extent, kInt32, {}, "A.extent.0"); }
ExpressionPtr same(ExpressionPtr e) { return e; }

TEST(Tolerances, grow_with_the_square_root_of_the_reduction) {
  const Algorithm algorithm = product(kFloat32, kFloat32, extent_of_a(), same);
  EXPECT_DOUBLE_EQ(tolerances(algorithm, problem_of(8, 1024)).at(0).relative, 8 * 0x1p-23 * 32);
  EXPECT_DOUBLE_EQ(tolerances(algorithm, problem_of(8, 4096)).at(0).relative, 8 * 0x1p-23 * 64);
  EXPECT_EQ(tolerances(algorithm, problem_of(8, 4096)).at(0).outlier_fraction, 0);
}

TEST(Tolerances, evaluate_the_extent_of_a_reduction) {
  const Algorithm quarter = product(kFloat32, kFloat32, make(Op::div, kInt32, {extent_of_a(), constant(4)}), same);
  EXPECT_DOUBLE_EQ(tolerances(quarter, problem_of(8, 1024)).at(0).relative, 8 * 0x1p-23 * 16);
}

TEST(Tolerances, take_the_largest_extent_there_is_for_one_that_depends_on_data) {
  const Algorithm unknown = product(kFloat32, kFloat32, make(Op::load, kInt32, {}, "lengths"), same);
  EXPECT_DOUBLE_EQ(tolerances(unknown, problem_of(8, 900)).at(0).relative, 8 * 0x1p-23 * 30);
}

TEST(Tolerances, use_the_type_that_accumulates) {
  const Algorithm algorithm = product(kHalf, kHalf, constant(16), same);
  EXPECT_DOUBLE_EQ(tolerances(algorithm, problem_of(8, 16)).at(0).relative, 8 * 0x1p-10 * 4);
}

TEST(Tolerances, add_an_ulp_of_each_type_that_is_rounded_to) {
  const Algorithm rounds = product(kFloat32, kBrain, constant(4), [](ExpressionPtr c) { return make(Op::cast, kBrain, {std::move(c)}); });
  EXPECT_DOUBLE_EQ(tolerances(rounds, problem_of(8, 4)).at(0).relative, 8 * 0x1p-23 * 2 + 0x1p-7);
  const Algorithm widens = product(kFloat32, kFloat64, constant(4), [](ExpressionPtr c) { return make(Op::cast, kFloat64, {std::move(c)}); });
  EXPECT_DOUBLE_EQ(tolerances(widens, problem_of(8, 4)).at(0).relative, 8 * 0x1p-23 * 2);
}

TEST(Tolerances, add_an_ulp_for_each_stage_that_rounds) {
  const auto to_brain = [](ExpressionPtr e) { return make(Op::cast, kBrain, {std::move(e)}); };
  Algorithm rounds_twice = product(kFloat32, kBrain, constant(4), to_brain);
  const Stage between{"b", {"n"}, {kBrain}, rounds_twice.stages.back().values, {}};
  rounds_twice.stages.back().values = {to_brain(make(Op::cast, kFloat32, {make(Op::load, kBrain, {make(Op::loop, kInt32, {}, "n")}, "b")}))};
  rounds_twice.stages.insert(rounds_twice.stages.end() - 1, between);
  EXPECT_DOUBLE_EQ(tolerances(rounds_twice, problem_of(8, 4)).at(0).relative, 8 * 0x1p-23 * 2 + 2 * 0x1p-7);
}

TEST(Tolerances, allow_outliers_where_a_float_is_cut_to_an_integer) {
  const auto to_byte = [](ExpressionPtr c) { return make(Op::cast, kByte, {std::move(c)}); };
  Algorithm cuts = product(kFloat32, kByte, constant(4), to_byte);
  EXPECT_EQ(tolerances(cuts, problem_of(8, 4)).at(0).outlier_fraction, 1e-5);
  cuts.outlier_fraction = 1e-3;
  EXPECT_EQ(tolerances(cuts, problem_of(8, 4)).at(0).outlier_fraction, 1e-3);
}

TEST(Tolerances, allow_outliers_where_the_bits_of_a_float_are_read_as_an_integer) {
  const auto bits = [](ExpressionPtr c) { return make(Op::cast, kByte, {make(Op::reinterpret, {TypeClass::unsigned_int, 32}, {std::move(c)})}); };
  EXPECT_EQ(tolerances(product(kFloat32, kByte, constant(4), bits), problem_of(8, 4)).at(0).outlier_fraction, 1e-5);
  const auto same_bits = [](ExpressionPtr c) { return make(Op::reinterpret, kFloat32, {std::move(c)}); };
  EXPECT_EQ(tolerances(product(kFloat32, kFloat32, constant(4), same_bits), problem_of(8, 4)).at(0).outlier_fraction, 0);
}

TEST(Tolerances, allow_outliers_where_integers_depend_on_a_comparison_of_floats) {
  const auto is_positive = [](ExpressionPtr c) { return make(Op::gt, kBool, {std::move(c), make(Op::constant, kFloat32)}); };
  EXPECT_EQ(tolerances(product(kFloat32, kBool, constant(4), is_positive), problem_of(8, 4)).at(0).outlier_fraction, 1e-5);
  const auto rectified = [&](ExpressionPtr c) { return make(Op::select, kFloat32, {is_positive(c), c, make(Op::constant, kFloat32)}); };
  EXPECT_EQ(tolerances(product(kFloat32, kFloat32, constant(4), rectified), problem_of(8, 4)).at(0).outlier_fraction, 0);
}

Argument argument(const std::string& name, DType type) {
  Argument made;
  made.name = name;
  made.type = type;
  return made;
}

std::vector<double> filled(const Argument& of, std::size_t count, std::uint64_t seed = 1) {
  std::vector<std::byte> bytes(count * static_cast<std::size_t>(of.type.bytes()));
  fill(bytes, of, seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(element(bytes.data(), of.type, static_cast<std::int64_t>(i)));
  return values;
}

TEST(Inputs, are_normal_floats) {
  double sum = 0, squares = 0;
  const auto values = filled(argument("A", kFloat32), 100'000);
  for (const double v : values) {
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

TEST(Inputs, cover_small_integers_and_stay_below_1024_in_wide_ones) {
  const auto bytes = filled(argument("A", {TypeClass::signed_int, 8}), 100'000);
  EXPECT_EQ(std::set<double>(bytes.begin(), bytes.end()).size(), 256U);
  EXPECT_EQ(*std::min_element(bytes.begin(), bytes.end()), -128);
  const auto wide = filled(argument("A", kInt32), 100'000);
  EXPECT_EQ(*std::min_element(wide.begin(), wide.end()), 0);
  EXPECT_EQ(*std::max_element(wide.begin(), wide.end()), 1023);
  const auto flags = filled(argument("A", kBool), 1000);
  EXPECT_EQ(std::set<double>(flags.begin(), flags.end()), (std::set<double>{0, 1}));
}

TEST(Inputs, keep_to_a_registered_range_or_values) {
  Argument ranged = argument("A", kFloat32);
  ranged.range = {2, 3};
  for (const double v : filled(ranged, 1000)) EXPECT_TRUE(v >= 2 && v <= 3) << v;
  Argument listed = argument("A", kInt32);
  listed.values = {5, 9};
  const auto values = filled(listed, 1000);
  EXPECT_EQ(std::set<double>(values.begin(), values.end()), (std::set<double>{5, 9}));
}

TEST(Inputs, depend_on_seed_and_name_alone) {
  EXPECT_EQ(filled(argument("A", kFloat32), 100), filled(argument("A", kFloat32), 100));
  EXPECT_NE(filled(argument("A", kFloat32), 100), filled(argument("B", kFloat32), 100));
  EXPECT_NE(filled(argument("A", kFloat32), 100), filled(argument("A", kFloat32), 100, 2));
}

TEST(Inputs, round_to_the_nearest_even_of_narrow_types) {
  std::byte bytes[2];
  store_element(bytes, kBrain, 1 + 0x1p-8);  // half way: down to the even 1
  EXPECT_EQ(element(bytes, kBrain, 0), 1);
  store_element(bytes, kBrain, 1 + 0x3p-8);  // half way: up to the even 1 + 2^-6
  EXPECT_EQ(element(bytes, kBrain, 0), 1 + 0x1p-6);
  store_element(bytes, kHalf, 65519);
  EXPECT_EQ(element(bytes, kHalf, 0), 65504);
}

TEST(Inputs, take_scalars_from_values_then_from_the_estimate) {
  Argument scalar = argument("alpha", kFloat32);
  scalar.is_scalar = true;
  try {
    (void)scalar_value(scalar, 0);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "scalar input `alpha` has no value to measure with: give it an estimate in the generator (alpha.set_estimate(…)) or "
                               "`values` in its registration");
  }
  scalar.scalar_estimate = 2;
  EXPECT_EQ(scalar_value(scalar, 1), 2);
  scalar.values = {3, 4};
  EXPECT_EQ(scalar_value(scalar, 0), 3);
  EXPECT_EQ(scalar_value(scalar, 3), 4);
}

TEST(RaggedProblems, have_prime_extents_then_one_less_then_smaller_outputs) {
  const Algorithm algorithm = product(kFloat32, kFloat32, extent_of_a(), same);
  const auto ragged = ragged_problems(problem_of(64, 1024), algorithm);
  ASSERT_EQ(ragged.size(), 3U);
  EXPECT_EQ(ragged[0], problem_of(61, 251));
  EXPECT_EQ(ragged[1], problem_of(63, 1023));
  EXPECT_EQ(ragged[2], problem_of(63, 1024));
}

TEST(RaggedProblems, keep_to_what_the_author_requires_of_an_extent) {
  Algorithm algorithm = product(kFloat32, kFloat32, extent_of_a(), same);
  algorithm.requirements = {make(Op::eq, kBool, {make(Op::mod, kInt32, {extent_of_a(), constant(2)}), constant(0)})};
  EXPECT_EQ(ragged_problems(problem_of(64, 1024), algorithm), (std::vector<Problem>{problem_of(61, 250), problem_of(63, 1022), problem_of(63, 1024)}));
  algorithm.requirements = {make(Op::eq, kBool, {make(Op::mod, kInt32, {extent_of_a(), constant(16)}), constant(0)})};
  EXPECT_EQ(ragged_problems(problem_of(64, 1024), algorithm), (std::vector<Problem>{problem_of(61, 240), problem_of(63, 1008), problem_of(63, 1024)}));
  EXPECT_EQ(ragged_problems(problem_of(64, 16), algorithm), (std::vector<Problem>{problem_of(61, 16), problem_of(63, 16)}));
}

TEST(RaggedProblems, leave_small_extents_alone) {
  const Algorithm algorithm = product(kFloat32, kFloat32, extent_of_a(), same);
  EXPECT_TRUE(ragged_problems(problem_of(8, 3), algorithm).empty());
  EXPECT_EQ(ragged_problems(problem_of(1, 12), algorithm), (std::vector<Problem>{problem_of(1, 11)}));
}

}  // namespace
}  // namespace kiln::autotune
