// Whatever legality accepts computes the same: random legal schedules of every shipped operator, on extents of 1, primes and one off a tile.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <random>

#include "dsl/read_algorithm.h"
#include "generators/host/host.h"
#include "generators/operators/operators.h"
#include "tests/equivalence/trial.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

constexpr std::uint64_t kSeed = 20260929;
constexpr int kAttemptsPerEqual = 2;  // more mean that the proposer mostly proposes what no one calls

struct Operator {
  int wanted = 0;  // equal results: 730 in all, fewer of those whose schedules take Halide seconds or whose stages are another's
  std::vector<std::string> problems;  // of one algorithm: they differ in extents alone
};

const std::map<std::string, Operator>& operators() {
  static const std::map<std::string, Operator> kOperators = {
      {"conv", {50, {"conv(co=8, ci=3, w=17, h=5)", "conv(co=16, ci=5, w=7, h=1)", "conv(co=1, ci=1, w=31, h=9)"}}},
      {"ffn", {10, {"ffn(m=7, h=5, n=17, k=13, bf16)", "ffn(m=1, h=16, n=8, k=5, bf16)", "ffn(m=17, h=1, n=3, k=31, bf16)"}}},
      {"matmul", {140, {"matmul(m=7, n=33, k=13)", "matmul(m=1, n=16, k=5)", "matmul(m=17, n=1, k=31)", "matmul(m=16, n=48, k=8)"}}},
      {"matmul_fp8", {20, {"matmul_fp8(m=3, n=16, k=5)", "matmul_fp8(m=17, n=1, k=31)", "matmul_fp8(m=7, n=33, k=13)"}}},
      {"matmul_swiglu", {20, {"matmul_swiglu(m=7, n=33, k=13, bf16)", "matmul_swiglu(m=1, n=16, k=5, bf16)", "matmul_swiglu(m=17, n=1, k=31, bf16)"}}},
      {"matvec", {20, {"matvec(m=1, n=33, k=13, bf16, weights=kn)", "matvec(m=3, n=16, k=5, bf16, weights=kn)"}}},
      {"rmsnorm", {140, {"rmsnorm(m=7, n=33)", "rmsnorm(m=1, n=64)", "rmsnorm(m=15, n=1)"}}},
      {"softmax", {100, {"softmax(m=7, n=33)", "softmax(m=1, n=64)", "softmax(m=15, n=1)"}}},
      {"swiglu", {140, {"swiglu(m=7, n=33)", "swiglu(m=1, n=65)", "swiglu(m=16, n=32)"}}},
      {"swiglu_quant", {30, {"swiglu_quant(m=7, n=33)", "swiglu_quant(m=1, n=65)", "swiglu_quant(m=16, n=32)"}}},
      {"swiglu_quant_rows", {30, {"swiglu_quant(m=7, n=33, bf16, scale=row)", "swiglu_quant(m=1, n=65, bf16, scale=row)"}}},
      {"transpose", {40, {"transpose(m=7, n=33)", "transpose(m=1, n=65)", "transpose(m=16, n=32)"}}},
      {"unsharp", {40, {"unsharp(w=31, h=17, c=3)", "unsharp(w=16, h=1, c=3)", "unsharp(w=63, h=8, c=3)"}}},
  };
  return kOperators;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, tried] : operators()) all.push_back(name);
  return all;
}

Algorithm algorithm_of(const std::string& problem, const Device& device) {
  const std::string target = host::target_string(device, host::Isa::native, Contract::bounded);
  const ProblemText text = parse_problem_text(problem);
  const OperatorSignature signature = signature_of(text.operator_name, target);
  return read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), target);
}

TEST(RandomSchedulesList, has_every_shipped_operator) {
  for (const std::string& name : generators::shipped_operators()) EXPECT_TRUE(operators().contains(name)) << name;
}

class RandomSchedules : public testing::TestWithParam<std::string> {};

TEST_P(RandomSchedules, compile_and_equal_the_reference) {
  const auto& [wanted, problems] = operators().at(GetParam());
  generators::shipped_operators();
  const Device device = host::probe_cpu();
  const Algorithm algorithm = algorithm_of(problems[0], device);
  const host::Loaded reference(host::build_reference(algorithm, device));
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const std::string& text : problems) subjects.push_back(std::make_unique<Subject>(algorithm, text, reference, kSeed));

  std::mt19937_64 random(test_seed(kSeed));
  std::map<Outcome::Kind, int> tally;
  int attempts = 0;
  while (tally[Outcome::Kind::equal] < wanted && attempts < wanted * kAttemptsPerEqual) {
    const Subject& subject = *subjects[static_cast<std::size_t>(attempts++) % subjects.size()];
    const Schedule schedule = random_legal_schedule(algorithm, subject.problem(), random);
    std::printf("%d: %s\n%s", attempts, print(subject.problem()).c_str(), print(schedule).c_str());
    std::fflush(stdout);  // before the build: whatever ends the program, its schedule is known
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = try_schedule(subject, algorithm, schedule, device);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ++tally[outcome.kind];
    std::printf("-> %c %.2f s %s\n", static_cast<char>(outcome.kind), seconds.count(), outcome.text.c_str());
    EXPECT_NE(outcome.kind, Outcome::Kind::wrong) << outcome.text << "\n" << print(subject.problem()) << "\n" << print(schedule);
  }
  std::printf("%s: %d schedules, %d equal, %d refused by Halide, %d beyond the device, %d need larger buffers, %d not compiled in time\n",
              GetParam().c_str(), attempts, tally[Outcome::Kind::equal], tally[Outcome::Kind::refused], tally[Outcome::Kind::over_device],
              tally[Outcome::Kind::needs_more], tally[Outcome::Kind::slow_build]);
  EXPECT_EQ(tally[Outcome::Kind::equal], wanted);
  EXPECT_LE(tally[Outcome::Kind::refused] * 100, attempts) << "legality accepts what Halide refuses";
  EXPECT_LE(tally[Outcome::Kind::slow_build] * 20, attempts) << "legality accepts what takes Halide too long";
}

INSTANTIATE_TEST_SUITE_P(Shipped, RandomSchedules, testing::ValuesIn(names()), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace kiln::tests
