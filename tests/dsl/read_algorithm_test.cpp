#include "dsl/read_algorithm.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "dsl/error.h"
#include "dsl/read_algorithm_names.h"
#include "dsl/registration.h"
#include "generators/operators/operators.h"
#include "tests/dsl/halide_runs.h"

namespace kiln {
namespace {

using tests::test_target;

class ReadAlgorithm : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    generators::shipped_operators();
    for (const char* name : {"plain_generator", "construct_generators", "hostile_generators"}) load_plugin(tests::plugin(name));
  }
};

Algorithm read(const std::string& generator, const std::map<std::string, std::string>& params = {}) {
  return read_algorithm(generator, params, test_target());
}

template <typename Kind>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string algorithm_error(const std::string& generator) {
  return message_of<AlgorithmError>([&] { read(generator); });
}

TEST_F(ReadAlgorithm, keeps_a_matrix_product_as_text) {
  EXPECT_EQ(print(read("matmul", {{"epilogue", "relu"}})), R"(generator matmul
contract bounded
param epilogue=relu
param has_bias=false
param has_residual=false
param output=same
param pairs=false
param type=f32
param weights=nk
input A f32 2
input B f32 2
output C f32 2
stage A.in (d0, d1) f32
  (load f32 A 0 d0 d1)
stage B.in (d0, d1) f32
  (load f32 B 0 d0 d1)
stage c (n, m) f32
  (constant f32 0)
  update 0 at n, m
    over k from 0 for (extent i32 A.extent.0)
    (add f32 (load f32 c 0 n m) (mul f32 (load f32 A.in 0 (reduction i32 k) m) (load f32 B.in 0 n (reduction i32 k))))
stage y (n, m) f32
  (max f32 (load f32 c 0 n m) (constant f32 0))
outputs y
)");
}

TEST_F(ReadAlgorithm, a_product_in_pairs_sums_two_terms_of_k_side_by_side) {
  const Algorithm a = read("matmul", {{"type", "bf16"}, {"pairs", "true"}});
  const Update& sum = a.stage("c").updates[0];
  ASSERT_EQ(sum.reduction.size(), 2u);
  EXPECT_EQ(sum.reduction[0].name, "k.x");
  EXPECT_EQ(sum.reduction[1].name, "k.y");
  EXPECT_EQ(print(*sum.values[0]),
            "(add f32 (load f32 c 0 n m) (mul f32 (cast f32 (load bf16 A.in 0 (add i32 (mul i32 2 (reduction i32 k.y)) (reduction i32 k.x)) m)) "
            "(cast f32 (load bf16 packed 0 (reduction i32 k.x) n (reduction i32 k.y)))))");
  EXPECT_EQ(print(*a.stage("packed").values[0]), "(load bf16 B.in 0 n (add i32 (mul i32 2 half) p))");
  ASSERT_EQ(a.requirements.size(), 1u);
  EXPECT_EQ(print(*a.requirements[0]), "(eq bool (mod i32 (extent i32 A.extent.0) 2) 0)");
}

TEST_F(ReadAlgorithm, a_product_s_output_has_the_type_of_its_inputs_unless_f32_is_asked_for) {
  const auto types = [](const std::map<std::string, std::string>& params) {
    const Algorithm a = read("matmul", params);
    return print(a.arguments[0].type) + " " + print(a.stage("c").types[0]) + " " + print(a.arguments[2].type);
  };
  EXPECT_EQ(types({}), "f32 f32 f32");
  EXPECT_EQ(types({{"type", "bf16"}}), "bf16 f32 bf16");
  EXPECT_EQ(types({{"type", "bf16"}, {"output", "f32"}}), "bf16 f32 f32");
  EXPECT_EQ(types({{"type", "f64"}}), "f64 f64 f64");
}

TEST_F(ReadAlgorithm, a_product_says_what_its_parameters_exclude) {
  const auto refusal = [](const std::map<std::string, std::string>& params) { return message_of<AlgorithmError>([&] { read("matmul", params); }); };
  EXPECT_EQ(refusal({{"pairs", "true"}}),
            "`matmul`: configure() threw std::invalid_argument: pairs=true is for bf16: of no other type are two products summed in one step");
  EXPECT_EQ(refusal({{"type", "f64"}, {"epilogue", "gelu"}}),
            "`matmul`: configure() threw std::invalid_argument: gelu needs erf, which Halide has for f32 alone; use gelu_tanh for f64");
}

TEST_F(ReadAlgorithm, operators_in_f32_round_once_at_the_end) {
  EXPECT_EQ(print(*read("swiglu").stage("y").values[0]), "(mul f32 (load f32 gate 0 n m) (load f32 u.in 0 n m))");
  EXPECT_EQ(print(*read("swiglu", {{"type", "bf16"}}).stage("y").values[0]), "(cast bf16 (mul f32 (load f32 gate 0 n m) (cast f32 (load bf16 u.in 0 n m))))");
  EXPECT_EQ(print(*read("softmax", {{"type", "f16"}}).stage("y").values[0]), "(cast f16 (mul f32 (load f32 e 0 n m) (load f32 scale 0 m)))");
  const auto casts = [](const std::string& generator) {
    int found = 0;
    for (const Stage& stage : read(generator, {{"type", "bf16"}}).stages)
      for (const ExpressionPtr& value : stage.values) for_each_node(*value, [&](const Expression& e) { found += e.op == Op::cast && e.type != kFloat32; });
    return found;
  };
  for (const char* name : {"matvec", "rmsnorm", "softmax", "swiglu"}) EXPECT_EQ(casts(name), 1) << name;
}

TEST_F(ReadAlgorithm, operators_in_f32_say_which_types_they_take) {
  const auto refusal = [](const std::string& generator, const std::string& type) { return message_of<AlgorithmError>([&] { read(generator, {{"type", type}}); }); };
  for (const std::string name : {"matvec", "rmsnorm", "softmax", "swiglu", "swiglu_quant"}) {
    EXPECT_EQ(refusal(name, "f64"), "`" + name + "`: configure() threw std::invalid_argument: " + name + " computes in f32 and takes f32, f16 or bf16, not float64");
    EXPECT_EQ(refusal(name, "i32"), "`" + name + "`: configure() threw std::invalid_argument: " + name + " computes in f32 and takes f32, f16 or bf16, not int32");
  }
}

// The other order is another argument: a package's header then says which one it wants.
TEST_F(ReadAlgorithm, a_matvec_s_weights_lie_by_rows_of_n_or_of_k) {
  const Algorithm nk = read("matvec"), kn = read("matvec", {{"weights", "kn"}});
  EXPECT_EQ(print(*nk.stage("c").updates[0].values[0]), "(add f32 (load f32 c 0 n m) (mul f32 (load f32 x.in 0 (reduction i32 k) m) (load f32 W.in 0 n (reduction i32 k))))");
  EXPECT_EQ(print(*kn.stage("c").updates[0].values[0]), "(add f32 (load f32 c 0 n m) (mul f32 (load f32 x.in 0 (reduction i32 k) m) (load f32 Wt.in 0 (reduction i32 k) n)))");
  EXPECT_EQ(nk.symbols.at("k"), (std::vector<Axis>{{"x", 0}, {"W", 1}}));
  EXPECT_EQ(kn.symbols.at("k"), (std::vector<Axis>{{"x", 0}, {"Wt", 0}}));
  EXPECT_EQ(kn.symbols.at("n"), (std::vector<Axis>{{"Wt", 1}, {"y", 0}}));
}

TEST_F(ReadAlgorithm, a_quantised_gate_has_a_scale_given_or_one_a_row) {
  const auto arguments = [](const std::map<std::string, std::string>& params) {
    std::string text;
    for (const Argument& a : read("swiglu_quant", params).arguments)
      text += a.name + " " + print(a.type) + (a.is_scalar ? " scalar" : "") + (a.is_output ? " output" : "") + (a.rank == 1 ? " of rows" : "") + ", ";
    return text;
  };
  EXPECT_EQ(arguments({}), "g f32, u f32, inv_scale f32 scalar, y u8 output, ");
  EXPECT_EQ(arguments({{"type", "bf16"}, {"scale", "row"}}), "g bf16, u bf16, y u8 output, scales f32 output of rows, ");
  EXPECT_EQ(read("swiglu_quant").arguments[2].scalar_estimate, 16.0);
  const Algorithm row = read("swiglu_quant", {{"scale", "row"}});
  EXPECT_EQ(print(*row.stage("row").values[0]), "(div f32 (max f32 (load f32 peak 0 m) (constant f32 0.001953125)) (constant f32 448))");
  EXPECT_EQ(print(*row.stage("scaled").values[0]), "(div f32 (load f32 value 0 n m) (load f32 row 0 m))");
  EXPECT_EQ(print(*row.stage("scales").values[0]), "(load f32 row 0 m)");
}

TEST_F(ReadAlgorithm, names_what_halide_names_by_itself) {
  const Algorithm a = read("names");
  std::vector<std::string> names;
  for (const Stage& stage : a.stages) names.push_back(stage.name);
  EXPECT_EQ(names, (std::vector<std::string>{"input.in", "lambda", "mirror_image", "blur", "blur#2", "f1", "f", "sum", "output"}));
  EXPECT_EQ(a.stage("f").loops, std::vector<std::string>{"v0"});
  EXPECT_EQ(a.stage("sum").updates[0].reduction[0].name, "r");
}

// Halide made two names alike and added a suffix to one: it happens to its own lambdas, too.
TEST(CanonicalNames, of_lambdas_are_one_whatever_suffix_halide_adds) {
  Halide::Func first("lambda_907"), second("lambda_907"), both("both");
  Halide::Var x;
  first(x) = x;
  second(x) = first(x) + 1;
  both(x) = first(x) + second(x);
  const auto functions = functions_of(Halide::Pipeline(both));
  ASSERT_NE(second.name(), "lambda_907");
  const Names names = canonical_names(functions);
  EXPECT_EQ(names.at(first.name()).stage, "lambda");
  EXPECT_EQ(names.at(second.name()).stage, "lambda#2");
}

TEST_F(ReadAlgorithm, names_do_not_depend_on_how_often_a_generator_ran) {
  const Algorithm first = read("names");
  for (int i = 0; i < 12; ++i) EXPECT_EQ(print(read("names")), print(first));  // counters pass from one to two digits
}

TEST_F(ReadAlgorithm, a_table_inside_the_generator_is_part_of_the_digest) {
  EXPECT_NE(read("names", {{"entry", "4"}}).stage("f1").values[0]->args[1]->name, read("names").stage("f1").values[0]->args[1]->name);
}

TEST_F(ReadAlgorithm, every_single_change_of_a_generator_changes_its_stages) {
  std::set<std::string> texts;
  for (int change = 0; change < 17; ++change) {
    Algorithm a = read("variants", {{"change", std::to_string(change)}});
    a.params.clear();
    EXPECT_TRUE(texts.insert(digest(a).hex()).second) << change;
  }
}

constexpr const char* kReadTwice[] = {"unsharp", "names", "matmul", "conv", "rmsnorm", "softmax", "exposure", "swiglu", "swiglu_quant", "updates"};

TEST(ReadAlgorithmChild, DISABLED_prints_every_algorithm) {
  generators::shipped_operators();
  for (const char* name : {"construct_generators", "plain_generator"}) load_plugin(tests::plugin(name));  // the other way round than the parent
  std::ofstream out(std::getenv("KILN_TEST"));
  for (const char* name : kReadTwice) out << print(read(name)) << digest(read(name)).hex();
}

TEST_F(ReadAlgorithm, another_process_reads_the_same_text_and_digest) {
  const std::string path = testing::TempDir() + "kiln_read_algorithms";
  ASSERT_EQ(tests::spawn_self("ReadAlgorithmChild.*", path), 0);
  std::ifstream in(path);
  std::stringstream theirs;
  theirs << in.rdbuf();
  std::string ours;
  for (const char* name : kReadTwice) ours += print(read(name)) + digest(read(name)).hex();
  EXPECT_EQ(theirs.str(), ours);
}

TEST_F(ReadAlgorithm, an_unmodified_generator_keeps_its_arguments_estimates_and_own_schedule) {
  const Algorithm a = read("exposure");
  EXPECT_EQ(a.params, (std::map<std::string, std::string>{{"bins", "64"}, {"clip", "true"}, {"vector_size", "8"}}));
  ASSERT_EQ(a.arguments.size(), 4u);
  EXPECT_EQ(a.arguments[0].estimates, (std::vector<std::optional<Interval>>{Interval{0, 640}, Interval{0, 480}, Interval{0, 3}}));
  EXPECT_EQ(a.arguments[1].scalar_estimate, 1.5);
  EXPECT_EQ(a.arguments[3].rank, 1);
  EXPECT_EQ(a.outputs, (std::vector<std::string>{"bright", "histogram"}));
  EXPECT_EQ(a.symbol_order, (std::vector<std::string>{"input.0", "input.1", "input.2", "bright.0", "bright.1", "bright.2", "histogram.0"}));
  EXPECT_FALSE(a.own_pipeline.empty());
  EXPECT_EQ(a.own_schedule_absent, "");
}

TEST_F(ReadAlgorithm, a_schedule_of_another_parameter_is_another_algorithm) {
  EXPECT_NE(digest(read("exposure", {{"vector_size", "16"}})), digest(read("exposure")));
}

TEST_F(ReadAlgorithm, registered_operators_have_symbols_type_and_contract) {
  const Algorithm a = read("matmul", {{"has_bias", "true"}});
  EXPECT_EQ(a.symbol_order, (std::vector<std::string>{"m", "n", "k"}));
  EXPECT_EQ(a.symbols.at("n"), (std::vector<Axis>{{"B", 0}, {"C", 0}, {"bias", 0}}));
  EXPECT_EQ(a.type_param, "type");
  EXPECT_EQ(read("swiglu").contract, Contract::strict);
  EXPECT_EQ(read("rmsnorm").contract, Contract::bounded);
  EXPECT_EQ(read("softmax").contract, Contract::bounded);
  EXPECT_EQ(read("matvec").contract, Contract::bounded);
  EXPECT_EQ(read("matmul_fp8").contract, Contract::bounded);
  EXPECT_EQ(read("matmul_fp8", {{"accumulation", "plain"}}).contract, Contract::free);
  EXPECT_EQ(read("swiglu_quant").contract, Contract::strict);
  EXPECT_EQ(read("transpose").contract, Contract::strict);
  for (const char* name : {"rmsnorm", "softmax", "swiglu"}) EXPECT_TRUE(read(name).type_param == "type" && read(name).leaves_out_default_type) << name;
  for (const char* name : {"matvec", "swiglu_quant", "transpose"}) EXPECT_TRUE(read(name).type_param == "type" && !read(name).leaves_out_default_type) << name;
  EXPECT_EQ(read("unsharp").arguments[0].range, (std::pair<double, double>{0.05, 1.0}));
}

TEST_F(ReadAlgorithm, types_are_set_in_either_spelling_and_kept_in_ours) {
  for (const char* spelling : {"bf16", "bfloat16"}) EXPECT_EQ(read("matmul", {{"type", spelling}}).params.at("type"), "bf16");
  EXPECT_EQ(read("matmul", {{"type", "f64"}}).stage("c").types[0], kFloat64);
}

TEST_F(ReadAlgorithm, wrong_parameters_are_usage_errors_that_list_what_there_is) {
  const auto usage = [](const std::string& generator, const std::map<std::string, std::string>& params) {
    return message_of<UsageError>([&] { read(generator, params); });
  };
  EXPECT_EQ(usage("matmul", {{"tile", "4"}}), "`matmul` has no GeneratorParam `tile`; it has epilogue=none, has_bias=false, has_residual=false, output=same, pairs=false, type=f32, weights=nk");
  EXPECT_EQ(usage("swiglu", {{"tile", "4"}}), "`swiglu` has no GeneratorParam `tile`; it has type=f32");
  EXPECT_EQ(usage("tuple_argmax", {{"tile", "4"}}), "`tuple_argmax` has no GeneratorParam `tile`; it has none");
  EXPECT_EQ(usage("matmul", {{"epilogue", "tanh"}}), "`matmul` cannot take epilogue=tanh; it is one of gelu, gelu_tanh, none, relu, silu");
  EXPECT_EQ(usage("exposure", {{"bins", "many"}}), "`exposure` cannot take bins=many: Unable to parse: many");
  EXPECT_EQ(message_of<UsageError>([] { read("matmull"); }).substr(0, 51), "there is no generator `matmull`; registered are abo");
}

TEST_F(ReadAlgorithm, whatever_generate_throws_is_one_error_with_its_words) {
  EXPECT_EQ(algorithm_error("throws_in_generate"), "`throws_in_generate`: generate() threw std::runtime_error: the table of weights is empty");
  EXPECT_EQ(algorithm_error("throws_number"), "`throws_number`: generate() threw a value of type int");
  EXPECT_TRUE(algorithm_error("halide_error_in_generate").starts_with("`halide_error_in_generate`: generate() threw ")) << algorithm_error("halide_error_in_generate");
  EXPECT_EQ(message_of<AlgorithmError>([] { read("matmul", {{"type", "i32"}}); }),
            "`matmul`: configure() threw std::invalid_argument: matmul multiplies floats");
}

TEST_F(ReadAlgorithm, what_cannot_be_kept_is_an_error_that_names_the_stage) {
  EXPECT_EQ(algorithm_error("uses_extern"), "stage `outside` uses define_extern, which cannot be kept as an algorithm; write it in Halide");
  EXPECT_EQ(algorithm_error("uses_memoize"), "stage `slow` uses memoize, which cannot be kept as an algorithm; remove it from the generator");
  EXPECT_EQ(algorithm_error("uses_async"), "stage `ahead` uses async, which cannot be kept as an algorithm; remove it from the generator");
}

TEST_F(ReadAlgorithm, a_schedule_that_cannot_be_used_is_a_reason_not_a_failure) {
  EXPECT_EQ(read("throws_in_schedule").own_schedule_absent, "`throws_in_schedule`: schedule() threw std::logic_error: no schedule for this machine");
  EXPECT_EQ(read("throws_in_schedule").arguments[0].estimates[0], (Interval{0, 4096}));
  EXPECT_EQ(read("two_faced").own_schedule_absent, "the generator builds another algorithm when it is autoscheduled");
  EXPECT_EQ(read("matmul").own_schedule_absent, "schedule() leaves every stage at its default");
  EXPECT_FALSE(read("wrong_result").own_pipeline.empty());
}

TEST_F(ReadAlgorithm, requirements_are_kept) {
  const Algorithm a = read("requires_step");
  ASSERT_EQ(a.requirements.size(), 1u);
  EXPECT_EQ(print(*a.requirements[0]), "(gt bool (parameter i32 step) 0)");
}

TEST_F(ReadAlgorithm, a_signature_needs_no_problem) {
  const OperatorSignature matmul = signature_of("matmul", test_target());
  EXPECT_EQ(matmul.default_params, (std::map<std::string, std::string>{{"epilogue", "none"}, {"has_bias", "false"}, {"has_residual", "false"}, {"output", "same"}, {"pairs", "false"}, {"type", "f32"}, {"weights", "nk"}}));
  EXPECT_EQ(matmul.type_param, "type");
  EXPECT_EQ(matmul.arguments.size(), 3u);
  const OperatorSignature open = signature_of("open_types", test_target());
  EXPECT_EQ(open.default_params,
            (std::map<std::string, std::string>{{"input.dim", ""}, {"input.type", ""}, {"output.dim", ""}, {"output.type", ""}}));
  EXPECT_TRUE(open.arguments.empty());
}

TEST_F(ReadAlgorithm, plugins_that_cannot_be_used_say_why) {
  const std::string missing = message_of<UsageError>([] { load_plugin("/nowhere/libmine.so"); });
  EXPECT_EQ(missing, "plugin '/nowhere/libmine.so' cannot be loaded: /nowhere/libmine.so: cannot open shared object file: No such file or directory");
  const std::string path = tests::plugin("wrong_abi");
  EXPECT_EQ(message_of<UsageError>([&] { load_plugin(path); }),
            "plugin '" + path + "' was built for plugin interface 999, and this program has 4; build it again");
}

TEST(Registration, wrong_axes_are_errors_when_the_generator_is_read) {
  Algorithm a;
  a.arguments.resize(1);
  a.arguments[0].name = "A";
  a.arguments[0].rank = 2;
  register_operator("badly_written").symbol("m", "A");
  a.generator = "badly_written";
  EXPECT_EQ(message_of<AlgorithmError>([&] { apply_registration(a); }),
            "`badly_written` registers symbol m at 'A'; an axis is written argument.dimension, as in A.1");
  register_operator("too_high").symbol("m", "B.7 A.2");
  a.generator = "too_high";
  EXPECT_EQ(message_of<AlgorithmError>([&] { apply_registration(a); }), "`too_high` registers symbol m at A.2, but `A` has 2 dimensions");
}

}  // namespace
}  // namespace kiln
