#include "dsl/algorithm.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "dsl/error.h"

namespace kiln {
namespace {

Argument argument(const std::string& name, int rank) {
  Argument a;
  a.name = name;
  a.rank = rank;
  return a;
}

// A small matrix product with everything that an algorithm can hold.
Algorithm sample() {
  Algorithm a;
  a.generator = "sample";
  a.params = {{"type", "f32"}};
  a.default_params = {{"type", "f32"}};
  a.type_param = "type";
  a.arguments = {argument("A", 2), argument("eps", 0), argument("C", 1)};
  a.arguments[0].estimates = {Interval{0, 64}, std::nullopt};
  a.arguments[0].range = {-1.0, 1.0};
  a.arguments[1].is_scalar = true;
  a.arguments[1].scalar_estimate = 0.5;
  a.arguments[1].values = {0.5, std::numeric_limits<double>::infinity()};
  a.arguments[2].is_output = true;
  a.arguments[2].estimates = {Interval{0, 64}};
  a.symbols = {{"m", {{"A", 1}, {"C", 0}}}, {"A.0", {{"A", 0}}}};
  a.symbol_order = {"m", "A.0"};
  a.stages = {{"A.in", {"d0", "d1"}, {kFloat32}, {parse_expression("(load f32 A 0 d0 d1)")}, {}},
              {"c",
               {"m"},
               {kFloat32},
               {parse_expression("(constant f32 0)")},
               {{{parse_expression("m")},
                 {parse_expression("(add f32 (load f32 c 0 m) (load f32 A.in 0 (reduction i32 k) m))")},
                 {{"k", parse_expression("0"), parse_expression("(extent i32 A.extent.0)")}},
                 parse_expression("(lt bool (reduction i32 k) 9)")}}},
              {"y", {"m"}, {kFloat32}, {parse_expression("(mul f32 (load f32 c 0 m) (parameter f32 eps))")}, {}}};
  a.requirements = {parse_expression("(gt bool (parameter f32 eps) (constant f32 0))")};
  a.outputs = {"y"};
  a.halide_version = "21.0.0";
  a.pipeline = std::string("bytes\0\xff", 7);
  a.own_schedule_absent = "none";
  return a;
}

constexpr const char* kSampleText = R"(generator sample
contract bounded
param type=f32
input A f32 2
input eps f32 scalar
output C f32 1
stage A.in (d0, d1) f32
  (load f32 A 0 d0 d1)
stage c (m) f32
  (constant f32 0)
  update 0 at m
    over k from 0 for (extent i32 A.extent.0)
    where (lt bool (reduction i32 k) 9)
    (add f32 (load f32 c 0 m) (load f32 A.in 0 (reduction i32 k) m))
stage y (m) f32
  (mul f32 (load f32 c 0 m) (parameter f32 eps))
require (gt bool (parameter f32 eps) (constant f32 0))
outputs y
)";

TEST(Algorithm, prints_a_canonical_text) { EXPECT_EQ(print(sample()), kSampleText); }

TEST(Algorithm, every_change_of_what_is_computed_changes_the_digest) {
  using Change = std::function<void(Algorithm&)>;
  const std::vector<std::pair<const char*, Change>> changes{
      {"generator", [](Algorithm& a) { a.generator = "other"; }},
      {"contract", [](Algorithm& a) { a.contract = Contract::strict; }},
      {"param", [](Algorithm& a) { a.params["type"] = "f64"; }},
      {"argument name", [](Algorithm& a) { a.arguments[0].name = "B"; }},
      {"argument type", [](Algorithm& a) { a.arguments[0].type = kFloat64; }},
      {"argument rank", [](Algorithm& a) { a.arguments[0].rank = 3; }},
      {"argument kind", [](Algorithm& a) { a.arguments[1].is_scalar = false; }},
      {"argument direction", [](Algorithm& a) { a.arguments[2].is_output = false; }},
      {"argument order", [](Algorithm& a) { std::swap(a.arguments[0], a.arguments[1]); }},
      {"stage name", [](Algorithm& a) { a.stages[1].name = "d"; }},
      {"stage order", [](Algorithm& a) { std::swap(a.stages[0], a.stages[1]); }},
      {"loop", [](Algorithm& a) { a.stages[1].loops[0] = "n"; }},
      {"loop order", [](Algorithm& a) { std::swap(a.stages[0].loops[0], a.stages[0].loops[1]); }},
      {"stage type", [](Algorithm& a) { a.stages[1].types[0] = kFloat64; }},
      {"value", [](Algorithm& a) { a.stages[1].values[0] = parse_expression("(constant f32 1)"); }},
      {"update index", [](Algorithm& a) { a.stages[1].updates[0].indices[0] = parse_expression("0"); }},
      {"update value", [](Algorithm& a) { a.stages[1].updates[0].values[0] = parse_expression("(constant f32 1)"); }},
      {"no update", [](Algorithm& a) { a.stages[1].updates.clear(); }},
      {"second update", [](Algorithm& a) { a.stages[1].updates.push_back(a.stages[1].updates[0]); }},
      {"reduction name", [](Algorithm& a) { a.stages[1].updates[0].reduction[0].name = "q"; }},
      {"reduction min", [](Algorithm& a) { a.stages[1].updates[0].reduction[0].min = parse_expression("1"); }},
      {"reduction extent", [](Algorithm& a) { a.stages[1].updates[0].reduction[0].extent = parse_expression("8"); }},
      {"predicate", [](Algorithm& a) { a.stages[1].updates[0].predicate = parse_expression("(lt bool (reduction i32 k) 8)"); }},
      {"no predicate", [](Algorithm& a) { a.stages[1].updates[0].predicate = nullptr; }},
      {"requirement", [](Algorithm& a) { a.requirements.clear(); }},
      {"outputs", [](Algorithm& a) { a.outputs = {"c"}; }}};
  for (const auto& [what, change] : changes) {
    Algorithm changed = sample();
    change(changed);
    EXPECT_NE(digest(changed), digest(sample())) << what;
  }
}

TEST(Algorithm, every_change_of_one_node_of_an_expression_changes_the_digest) {
  Algorithm a = sample();
  const std::string value = print(*a.stages[1].updates[0].values[0]);
  const std::vector<std::pair<std::string, std::string>> changes{{"add", "sub"}, {"f32 (load", "f64 (load"}, {"c 0", "c 1"}, {"A.in", "y"}, {" k)", " q)"}, {"reduction", "parameter"}};
  for (const auto& [from, to] : changes) {
    std::string text = value;
    text.replace(text.find(from), from.size(), to);
    Algorithm changed = a;
    changed.stages[1].updates[0].values[0] = parse_expression(text);
    EXPECT_NE(digest(changed), digest(a)) << text;
  }
}

TEST(Algorithm, what_is_not_computation_leaves_the_digest_alone) {
  Algorithm a = sample();
  a.arguments[0].estimates.clear();
  a.arguments[0].range.reset();
  a.arguments[1].values.clear();
  a.arguments[1].scalar_estimate.reset();
  a.symbols.clear();
  a.symbol_order.clear();
  a.leaves_out_default_type = true;
  a.halide_version = "22.0.0";
  a.pipeline = "other bytes";
  a.own_pipeline = "a schedule";
  a.own_schedule_absent.clear();
  EXPECT_EQ(digest(a), digest(sample()));
}

TEST(Algorithm, travels_as_json_and_back) {
  const Algorithm a = sample();
  const Algorithm back = algorithm_from_json(to_json(a));
  EXPECT_EQ(to_json(back), to_json(a));
  EXPECT_EQ(print(back), print(a));
  EXPECT_EQ(back.pipeline, a.pipeline);
  EXPECT_EQ(back.arguments, a.arguments);
  EXPECT_EQ(back.symbols, a.symbols);
  EXPECT_EQ(to_json(a).find('\n'), std::string::npos);
}

TEST(Algorithm, every_field_of_the_json_is_needed) {
  const nlohmann::json whole = nlohmann::json::parse(to_json(sample()));
  for (const auto& [field, value] : whole.items()) {
    nlohmann::json less = whole;
    less.erase(field);
    try {
      algorithm_from_json(less.dump());
      ADD_FAILURE() << field;
    } catch (const DataError& error) {
      EXPECT_EQ(std::string(error.what()), "algorithm: '" + field + "' is missing");
    }
  }
}

// Texts that were stored before there was such a field are read as what they were.
TEST(Algorithm, a_default_type_that_is_left_out_travels_and_one_that_is_not_is_no_field) {
  Algorithm a = sample();
  EXPECT_EQ(to_json(a).find("leaves_out_default_type"), std::string::npos);
  EXPECT_FALSE(algorithm_from_json(to_json(a)).leaves_out_default_type);
  a.leaves_out_default_type = true;
  EXPECT_TRUE(algorithm_from_json(to_json(a)).leaves_out_default_type);
}

TEST(Algorithm, json_errors_name_the_field) {
  const auto message = [](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json json = nlohmann::json::parse(to_json(sample()));
    change(json);
    try {
      algorithm_from_json(json.dump());
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message([](auto& j) { j["contract"] = "loose"; }), "algorithm: 'contract' names no contract");
  EXPECT_EQ(message([](auto& j) { j["stages"][1]["types"][0] = "float"; }), "algorithm: 'stages[1].types' names no type: \"float\"");
  EXPECT_EQ(message([](auto& j) { j["stages"][1]["updates"][0]["reduction"][0]["min"] = "("; }),
            "algorithm: 'stages[1].updates[0].reduction[0].min' expression, column 2: expected an operation, found ''");
  EXPECT_EQ(message([](auto& j) { j["arguments"][0]["rank"] = "two"; }), "algorithm: 'arguments[0].rank' has the wrong type");
  EXPECT_EQ(message([](auto& j) { j["pipeline"] = "*"; }), "algorithm: 'pipeline' is not base64");
  EXPECT_EQ(message([](auto& j) { j = "text"; }), "algorithm: 'generator' is missing");
  EXPECT_THROW(algorithm_from_json("{"), DataError);
}

TEST(Algorithm, an_unknown_stage_is_an_error_that_lists_the_stages) {
  EXPECT_EQ(sample().stage("c").name, "c");
  try {
    sample().stage("z");
    FAIL();
  } catch (const ScheduleError& error) {
    EXPECT_EQ(std::string(error.what()), "`sample` has no stage `z`; its stages are A.in, c, y");
  }
}

TEST(Algorithm, producers_are_the_other_stages_in_order_of_use) {
  const Algorithm a = sample();
  EXPECT_EQ(producers_of(a.stage("A.in")), std::vector<std::string>{});
  EXPECT_EQ(producers_of(a.stage("c")), std::vector<std::string>{"A.in"});
  EXPECT_EQ(producers_of(a.stage("y")), std::vector<std::string>{"c"});
  EXPECT_TRUE(a.is_output("y"));
  EXPECT_FALSE(a.is_output("c"));
}

TEST(Algorithm, contracts_print_and_parse) {
  for (const Contract c : {Contract::strict, Contract::fixed_tree, Contract::bounded, Contract::free}) EXPECT_EQ(parse_contract(print(c)), c);
  EXPECT_EQ(parse_contract("loose"), std::nullopt);
}

}  // namespace
}  // namespace kiln
