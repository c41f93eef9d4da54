// Halide lowers whatever legality accepts: many more schedules, and of stranger pipelines, than can be compiled and run.
#include <Halide.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <random>
#include <string>

#include "dsl/apply.h"
#include "dsl/error.h"
#include "dsl/read_algorithm.h"
#include "dsl/registration.h"
#include "generators/host/host.h"
#include "generators/host/lowered.h"
#include "generators/operators/operators.h"
#include "tests/support/random_schedule.h"

namespace {

using namespace Halide;

// Two sums over the same input, one of them pixel by pixel and upside down, as two outputs.
class TwoSums : public Generator<TwoSums> {
 public:
  Input<Buffer<float, 2>> input{"input"};
  Output<Buffer<float, 2>> left{"left"};
  Output<Buffer<float, 2>> right{"right"};

  void generate() {
    Var x("x"), y("y");
    RDom r(0, 5, 0, 3, "r");
    Func gray("gray"), up("up"), near_sum("near_sum"), far_sum("far_sum");
    gray(x, y) = input(x, y) * 0.5f;
    up(x, y) = gray(x, 40 - y) + gray(x, 41 - y);
    near_sum(x, y) = 0.0f;
    near_sum(x, y) += gray(x + r.x, y + r.y);
    far_sum(x, y) = 1.0f;
    far_sum(x, y) *= up(x + r.x, y);
    far_sum(x, y) += 1.0f;
    left(x, y) = near_sum(x, y) + far_sum(x, y);
    right(x, y) = far_sum(x, y) - gray(x, y);
  }
  void schedule() {
    input.set_estimates({{0, 80}, {0, 48}});
    left.set_estimates({{0, 64}, {0, 32}});
    right.set_estimates({{0, 64}, {0, 32}});
  }
};

// A level of a pyramid, down by two and up again, counted into bins whose places depend on the values, and a Tuple of sums.
class Pyramid : public Generator<Pyramid> {
 public:
  Input<Buffer<std::uint8_t, 2>> input{"input"};
  Output<Buffer<float, 2>> out{"out"};

  void generate() {
    Var x("x"), y("y"), b("b");
    Func clamped = BoundaryConditions::repeat_edge(input);
    Func down("down"), level("level"), count("count"), moments("moments");
    down(x, y) = cast<float>(clamped(2 * x, y)) + cast<float>(clamped(2 * x + 1, y));
    level(x, y) = down(x / 2, y) + down(x / 2 + 1, y - 1);
    RDom r(0, 32, 0, 16, "r");
    count(b) = 0;
    count(cast<int>(clamped(r.x, r.y)) / 16) += 1;
    RDom k(0, 9, "k");
    moments(x, y) = Tuple(0.0f, 0.0f);
    moments(x, y) = Tuple(moments(x, y)[0] + level(x + k, y), moments(x, y)[1] + level(x + k, y) * level(x + k, y));
    out(x, y) = level(x, y) + cast<float>(count(clamp(x, 0, 15))) + moments(x, y)[0] * moments(x, y)[1];
  }
  void schedule() {
    input.set_estimates({{0, 64}, {0, 32}});
    out.set_estimates({{0, 64}, {0, 32}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TwoSums, two_sums)
HALIDE_REGISTER_GENERATOR(Pyramid, pyramid)
KILN_REGISTER(two_sums).symbol("w", "left.0 right.0").symbol("h", "left.1 right.1");

namespace kiln::tests {
namespace {

namespace host = generators::host;

constexpr std::uint64_t kSeed = 41;
constexpr int kSchedules = 120;
// Of the schedules that legality accepts, as many may be refused by Halide: in the corners of what it can prove constant, our rules and its own differ.
// Each one that is refused is printed and deserves a rule.
constexpr double kMostRefused = 0.01;

const std::map<std::string, std::string>& problems() {
  static const std::map<std::string, std::string> kProblems = {{"conv", "conv(co=8, ci=3, w=17, h=5)"},  {"matmul", "matmul(m=7, n=33, k=13)"},
                                                               {"pyramid", "pyramid()"},                  {"rmsnorm", "rmsnorm(m=7, n=33)"},
                                                               {"swiglu", "swiglu(m=7, n=33)"},           {"two_sums", "two_sums(w=33, h=17)"},
                                                               {"unsharp", "unsharp(w=31, h=17, c=3)"}};
  return kProblems;
}

class Lowering : public testing::TestWithParam<std::string> {};

TEST_P(Lowering, takes_every_schedule_that_is_legal) {
  generators::shipped_operators();
  const Device device = host::probe_cpu();
  const std::string target = host::target_string(device, host::Isa::native, Contract::bounded);
  const Algorithm algorithm = read_algorithm(GetParam(), {}, target);
  const Problem problem = resolve(parse_problem_text(problems().at(GetParam())), algorithm);
  std::mt19937_64 random(test_seed(kSeed));
  std::map<std::string, int> drawn;
  std::string refused;
  int refusals = 0;
  const auto refuse = [&](const Schedule& schedule, const std::string& why) {
    ++refusals;
    refused += why + "\n" + print(schedule);
  };
  for (int i = 0; i < kSchedules; ++i) {
    const Schedule schedule = random_legal_schedule(algorithm, problem, random);
    std::printf("%s", print(schedule).c_str());
    std::fflush(stdout);  // before it is lowered: whatever ends the program, its schedule is known
    for (const Directive& directive : schedule.directives) ++drawn[directive.name];
    try {
      Pipeline pipeline = rebuild(algorithm);
      apply(schedule, pipeline);
      host::lower(pipeline, "kernel", Target(target), algorithm, problem);
      std::puts("-> lowered");
    } catch (const Halide::Error& error) {
      refuse(schedule, error.what());
    } catch (const Error& error) {
      refuse(schedule, error.what());
    }
  }
  std::printf("%d of %d refused\n%s", refusals, kSchedules, refused.c_str());
  EXPECT_LE(refusals, kMostRefused * kSchedules) << refused;
  for (const auto& [name, count] : drawn) std::printf("%s %d\n", name.c_str(), count);
}

INSTANTIATE_TEST_SUITE_P(Each, Lowering, testing::Values("conv", "matmul", "pyramid", "rmsnorm", "swiglu", "two_sums", "unsharp"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace kiln::tests
