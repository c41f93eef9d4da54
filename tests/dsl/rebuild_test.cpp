#include "dsl/rebuild.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "dsl/error.h"
#include "dsl/read_algorithm.h"
#include "generators/operators/operators.h"
#include "tests/dsl/halide_runs.h"

namespace kiln {
namespace {

using tests::bytes_of;
using tests::original;
using tests::run;
using tests::stages_of;
using tests::test_target;

struct Case {
  std::string generator;
  std::map<std::string, std::string> params;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.generator; }

class Rebuild : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    generators::shipped_operators();
    load_plugin(tests::plugin("plain_generator"));
    load_plugin(tests::plugin("construct_generators"));
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& name : generators::shipped_operators()) all.push_back({name, {}});
  for (const char* epilogue : {"relu", "silu", "gelu", "gelu_tanh"}) all.push_back({"matmul", {{"has_bias", "true"}, {"epilogue", epilogue}}});
  all.push_back({"matmul", {{"type", "bfloat16"}}});
  all.push_back({"matmul", {{"type", "bfloat16"}, {"pairs", "true"}, {"output", "f32"}, {"epilogue", "gelu"}}});
  all.push_back({"conv", {{"relu", "false"}}});
  all.push_back({"matvec", {{"type", "bfloat16"}, {"weights", "kn"}}});
  for (const char* name : {"rmsnorm", "softmax", "swiglu"}) all.push_back({name, {{"type", "bfloat16"}}});
  all.push_back({"softmax", {{"type", "float16"}}});
  all.push_back({"swiglu_quant", {{"type", "bfloat16"}, {"scale", "row"}}});
  all.push_back({"transpose", {{"type", "uint8"}}});
  all.push_back({"open_types", {{"input.type", "float32"}, {"input.dim", "2"}, {"output.type", "float32"}, {"output.dim", "2"}}});
  all.push_back({"exposure", {{"bins", "32"}}});
  for (const char* name : {"tuple_argmax", "arrays", "updates", "halves", "names", "requires_step", "mathematics", "variants"}) all.push_back({name, {}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(, Rebuild, testing::ValuesIn(cases()), [](const auto& c) {
  return c.param.generator + "_" + std::to_string(c.index);
});

TEST_P(Rebuild, gives_the_same_algorithm_again) {
  const Algorithm algorithm = read_algorithm(GetParam().generator, GetParam().params, test_target());
  Algorithm again = algorithm;
  again.stages = stages_of(rebuild(algorithm_from_json(to_json(algorithm))));
  EXPECT_EQ(print(again), print(algorithm));
  EXPECT_EQ(digest(again), digest(algorithm));
}

TEST_P(Rebuild, computes_the_same_bits_as_the_generator) {
  const Algorithm algorithm = read_algorithm(GetParam().generator, GetParam().params, test_target());
  const std::string expected = bytes_of(run(original(GetParam().generator, GetParam().params), algorithm));
  EXPECT_EQ(bytes_of(run(rebuild(algorithm), algorithm)), expected);
  if (!algorithm.own_pipeline.empty()) {
    EXPECT_EQ(bytes_of(run(rebuild_own(algorithm), algorithm)), expected);
  }
}

TEST_P(Rebuild, is_close_to_the_reference) {
  const Algorithm algorithm = read_algorithm(GetParam().generator, GetParam().params, test_target());
  const auto got = run(rebuild(algorithm), algorithm), reference = run(rebuild_reference(algorithm), algorithm);
  ASSERT_EQ(got.size(), reference.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].type() != Halide::Float(32)) continue;
    ASSERT_EQ(reference[i].type(), Halide::Float(64));
    const auto* value = reinterpret_cast<const float*>(got[i].data());
    const auto* exact = reinterpret_cast<const double*>(reference[i].data());
    for (std::size_t e = 0; e < got[i].number_of_elements(); ++e) ASSERT_NEAR(value[e], exact[e], 2e-5 * std::max(1.0, std::abs(exact[e])));
  }
}

TEST(RebuildReference, widens_floats_and_keeps_rounding_points) {
  load_plugin(tests::plugin("construct_generators"));
  const Algorithm algorithm = read_algorithm("mathematics", {}, test_target());
  const Pipeline reference = rebuild_reference(algorithm);
  const std::vector<Halide::Buffer<>> outputs = run(reference, algorithm);
  const Halide::Buffer<float> input(reference.inputs.at("input").buffer());
  const double scale = 0.75;
  for (int x = 0; x < 48; ++x) {
    const double v = static_cast<double>(input(x));
    const double widened = std::exp(v) + std::sin(v) * std::sqrt(std::abs(v)) + std::pow(std::abs(v), 1.5) + (v + (scale - v) * 0.25) + std::atan2(v, 2.0) + std::tanh(v);
    EXPECT_NEAR(Halide::Buffer<double>(outputs[0])(x), widened, 1e-14 * std::abs(widened) + 1e-14);
    EXPECT_EQ(Halide::Buffer<double>(outputs[1])(x), static_cast<double>(static_cast<float>(Halide::bfloat16_t(v * 3.0))));
    EXPECT_EQ(Halide::Buffer<int>(outputs[3])(x), static_cast<int>(std::floor(v * 10.0)) + static_cast<int>(std::nearbyint(v)));
  }
}

TEST(RebuildOwn, keeps_every_directive_of_the_author) {
  load_plugin(tests::plugin("construct_generators"));
  const Algorithm algorithm = read_algorithm("scheduled", {}, test_target());
  ASSERT_FALSE(algorithm.own_pipeline.empty()) << algorithm.own_schedule_absent;
  EXPECT_EQ(algorithm.find_stage("total_intm"), nullptr);  // rfactor belongs to the schedule
  const Pipeline own = rebuild_own(algorithm);
  const auto text = [](const Halide::Pipeline& pipeline) {
    Halide::Pipeline copy = pipeline;
    std::ostringstream out;
    const auto module = copy.compile_to_module(copy.infer_arguments(Halide::Internal::Stmt()), "f", Halide::Target(test_target() + "-no_runtime"));
    out << module;
    return out.str();
  };
  const Pipeline made = original("scheduled", {});
  // The author's pipeline and the stored one lower to the same program, up to the counters that Halide adds to names.
  const auto shape = [&](const Halide::Pipeline& p) {
    std::map<std::string, int> counts;
    const std::string lowered = text(p);
    for (const char* word : {"parallel (", "vectorized", "ramp(", "x8(", "allocate ", "for (", "if (", "produce ", "in Stack"}) {
      for (std::size_t at = lowered.find(word); at != std::string::npos; at = lowered.find(word, at + 1)) ++counts[word];
    }
    return counts;
  };
  EXPECT_EQ(shape(own.pipeline), shape(made.pipeline));
  EXPECT_GT(shape(own.pipeline)["in Stack"], 0);
  EXPECT_EQ(bytes_of(run(own, algorithm)), bytes_of(run(made, algorithm)));
}

TEST(RebuildOwn, says_why_there_is_none) {
  generators::shipped_operators();
  try {
    rebuild_own(read_algorithm("swiglu", {}, test_target()));
    FAIL();
  } catch (const ScheduleError& error) {
    EXPECT_EQ(std::string(error.what()), "`swiglu` has no own schedule: schedule() leaves every stage at its default");
  }
}

TEST(RebuildErrors, another_halide_is_refused_with_both_versions) {
  generators::shipped_operators();
  Algorithm algorithm = read_algorithm("swiglu", {}, test_target());
  algorithm.halide_version = "22.0.0";
  try {
    rebuild(algorithm);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()), "`swiglu` was read with Halide 22.0.0, and this program has Halide 21.0.0; read it again");
  }
}

TEST(RebuildNames, halide_gets_names_that_it_allows) {
  EXPECT_EQ(halide_name("blur#2"), "blur$2");
  EXPECT_EQ(halide_name("A.in"), "A$in");
  EXPECT_EQ(halide_name("r.x"), "r$x");
  EXPECT_EQ(halide_name("x"), "x");
}

// The other process: reads the algorithms that the parent wrote, never loads a plugin, and writes what they compute.
TEST(RebuildChild, DISABLED_runs_algorithms_from_files) {
  const std::string folder = std::getenv("KILN_TEST");
  for (const char* name : {"exposure", "scheduled"}) {
    std::ifstream in(folder + name + ".json");
    std::stringstream json;
    json << in.rdbuf();
    const Algorithm algorithm = algorithm_from_json(json.str());
    std::ofstream(folder + name + ".rebuilt", std::ios::binary) << bytes_of(run(rebuild(algorithm), algorithm));
    std::ofstream(folder + name + ".own", std::ios::binary) << bytes_of(run(rebuild_own(algorithm), algorithm));
  }
}

TEST(RebuildElsewhere, a_process_without_the_plugin_computes_the_same) {
  load_plugin(tests::plugin("plain_generator"));
  load_plugin(tests::plugin("construct_generators"));
  const std::string folder = testing::TempDir() + "kiln_rebuild_";
  std::map<std::string, std::string> rebuilt, own;
  for (const char* name : {"exposure", "scheduled"}) {
    std::map<std::string, std::string> params;
    if (std::string(name) == "exposure") params["bins"] = "32";
    const Algorithm algorithm = read_algorithm(name, params, test_target());
    std::ofstream(folder + name + ".json") << to_json(algorithm);
    rebuilt[name] = bytes_of(run(rebuild(algorithm), algorithm));
    own[name] = bytes_of(run(rebuild_own(algorithm), algorithm));
  }
  ASSERT_EQ(tests::spawn_self("RebuildChild.*", folder), 0);
  const auto contents = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    return bytes.str();
  };
  for (const char* name : {"exposure", "scheduled"}) {
    EXPECT_EQ(contents(folder + name + ".rebuilt"), rebuilt[name]) << name;
    EXPECT_EQ(contents(folder + name + ".own"), own[name]) << name;
  }
}

TEST(RebuildEstimates, follow_the_problem) {
  generators::shipped_operators();
  const Algorithm algorithm = read_algorithm("rmsnorm", {}, test_target());
  Problem problem;
  problem.operator_name = "rmsnorm";
  problem.extents = {{"m", 5}, {"n", 96}};
  problem.symbol_order = algorithm.symbol_order;
  Pipeline pipeline = rebuild(algorithm);
  set_estimates(pipeline, algorithm, problem);
  EXPECT_EQ(Halide::Internal::as_const_int(pipeline.inputs.at("x").extent_constraint_estimate(0)), 96);
  EXPECT_EQ(Halide::Internal::as_const_int(pipeline.inputs.at("x").extent_constraint_estimate(1)), 5);
  const auto& estimates = pipeline.stages.at("y").function().schedule().estimates();
  ASSERT_EQ(estimates.size(), 2u);
  EXPECT_EQ(estimates[0].var, "n");
  EXPECT_EQ(Halide::Internal::as_const_int(estimates[0].extent), 96);
}

}  // namespace
}  // namespace kiln
