// Scheduling never changes what is computed: roundings in the algorithm survive fusion, an epilogue runs after its reduction, a row's scale needs
// the whole row. Each test asks for the wrong thing, is refused by name, and gets the right bits from every schedule that is legal.
#include <Halide.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dsl/legality.h"
#include "dsl/read_algorithm.h"
#include "dsl/registration.h"
#include "generators/host/call.h"
#include "generators/host/host.h"
#include "generators/host/loaded.h"
#include "generators/operators/operators.h"
#include "generators/runtime/host.h"
#include "tests/support/random_schedule.h"

namespace {

// x to bfloat16 and back, times u, plus x: the middle rounding is part of the result.
class Rounded : public Halide::Generator<Rounded> {
 public:
  Input<Buffer<float, 2>> x{"x"};
  Input<Buffer<float, 2>> u{"u"};
  Output<Buffer<float, 2>> y{"y"};

  void generate() {
    Var n("n"), m("m");
    Func half("half");
    half(n, m) = cast<Halide::bfloat16_t>(x(n, m) * 3.1f);
    y(n, m) = cast<float>(half(n, m)) * u(n, m) + x(n, m);
  }
};

// Each row divided by the step that brings its largest element to 448, rounded to the three bits of mantissa that E4M3FN has between 32 and 64 (no
// element of the test lies elsewhere but the largest), and multiplied back.
class RowScaled : public Halide::Generator<RowScaled> {
 public:
  Input<Buffer<float, 2>> x{"x"};
  Output<Buffer<float, 2>> y{"y"};

  void generate() {
    Var n("n"), m("m");
    RDom k(0, x.dim(0).extent(), "k");
    Func largest("largest"), scaled("scaled");
    largest(m) = 0.0f;
    largest(m) = max(largest(m), abs(x(k, m)));
    scaled(n, m) = round(x(n, m) * (448.0f / largest(m)) / 4.0f) * 4.0f;
    y(n, m) = scaled(n, m) / (448.0f / largest(m));
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Rounded, rounded)
HALIDE_REGISTER_GENERATOR(RowScaled, row_scaled)
KILN_REGISTER(rounded).symbol("m", "x.1 u.1 y.1").symbol("n", "x.0 u.0 y.0").contract(kiln::Contract::strict);
KILN_REGISTER(row_scaled).symbol("m", "x.1 y.1").symbol("n", "x.0 y.0").contract(kiln::Contract::strict);

namespace kiln::tests {
namespace {

namespace host = generators::host;

using Floats = std::vector<float>;

// One operator on one problem with given inputs.
class Runs {
 public:
  Runs(const std::string& name, const std::map<std::string, std::string>& params, const std::string& problem, std::vector<Floats> inputs)
      : device_(host::probe_cpu()),
        algorithm_(read_algorithm(name, params, host::target_string(device_, host::Isa::native, Contract::bounded))),
        problem_(resolve(parse_problem_text(problem), algorithm_)),
        inputs_(std::move(inputs)) {
    EXPECT_EQ(kiln_host_start(2), KILN_HOST_OK);
  }
  ~Runs() { kiln_host_stop(); }

  const Algorithm& algorithm() const { return algorithm_; }
  const Problem& problem() const { return problem_; }

  // The first output, whose elements are floats, under a schedule.
  Floats run(const Schedule& schedule) {
    const generators::Build build = host::build(algorithm_, schedule, problem_, device_);
    if (build.rejection) {
      ADD_FAILURE() << print(schedule) << build.rejection->text;
      return {};
    }
    const host::Loaded loaded(*build.artifact);
    const auto extents = host::extents_of(algorithm_, problem_);
    std::size_t elements = 1;
    for (const std::int64_t extent : extents.back()) elements *= static_cast<std::size_t>(extent);
    Floats output(elements);
    std::vector<void*> pointers;
    for (Floats& input : inputs_) pointers.push_back(input.data());
    pointers.push_back(output.data());
    host::Call call(algorithm_, extents, pointers);
    EXPECT_EQ(loaded(call.argv()), 0) << kiln_host_error_text();
    return output;
  }
  Floats run(const std::string& schedule) { return run(parse_schedule(schedule)); }

  std::string refusal(const std::string& schedule) const {
    const auto illegal = find_illegal(parse_schedule(schedule), algorithm_, &problem_);
    return illegal ? illegal->message : "legal";
  }

  // The same bits under so many legal schedules.
  void expect_always(const Floats& expected, int schedules) {
    std::mt19937_64 random(test_seed(11));
    for (int i = 0; i < schedules; ++i) {
      const Schedule schedule = random_legal_schedule(algorithm_, problem_, random);
      const Floats got = run(schedule);
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t e = 0; e < got.size(); ++e)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got[e]), std::bit_cast<std::uint32_t>(expected[e])) << print(schedule) << "element " << e;
    }
  }

 private:
  Device device_;
  Algorithm algorithm_;
  Problem problem_;
  std::vector<Floats> inputs_;
};

float silu(float x) { return x / (1.0f + std::exp(-x)); }

// The sum of 1 and -1 is 0, and so is its SiLU; the sum of their SiLUs is not.
TEST(NumericsTest, an_epilogue_waits_for_its_reduction) {
  generators::shipped_operators();
  Runs runs("matmul", {{"epilogue", "silu"}}, "matmul(m=1, n=1, k=2, epilogue=silu)", {{1, -1}, {1, 1}});
  EXPECT_NEAR(silu(1) + silu(-1), 0.4621f, 5e-5f);
  EXPECT_EQ(runs.refusal("y.compute_at(c, k)"),
            "`y.compute_at(c, k)`: y is an output, which is computed at root; only other stages can be computed at its loops");
  for (const char* schedule : {"", "c.compute_root()", "c.compute_at(y, n)", "c.compute_at(y, m)\nc.update(0).reorder(n, m, k)",
                               "c.compute_root()\nc.update(0).split(k, ko, ki, 1).rfactor(ko, u)"})
    EXPECT_EQ(runs.run(schedule), Floats{0.0f}) << schedule;
}

// 3.1 × (1 + 2^-9) lies between two bfloat16 numbers: whoever drops the rounding gets another sum.
TEST(NumericsTest, a_cast_is_a_rounding_point_wherever_it_is_fused) {
  const float x = 1.0f + 0x1p-9f;
  Runs one("rounded", {}, "rounded(m=1, n=1)", {{x}, {1.0f}});
  const float rounded = std::bit_cast<float>((std::bit_cast<std::uint32_t>(x * 3.1f) + 0x8000u) & 0xffff0000u);  // no tie: half up is nearest
  EXPECT_NE(rounded + x, x * 3.1f + x);
  for (const char* schedule : {"", "half.compute_root()", "half.compute_at(y, n)", "half.compute_at(y, m)\nx.in().compute_at(half, n)"})
    EXPECT_EQ(one.run(schedule), Floats{rounded + x}) << schedule;
}

TEST(NumericsTest, a_strict_operator_has_the_same_bits_fused_and_unfused) {
  std::mt19937_64 random(5);
  std::vector<Floats> inputs(2, Floats(7 * 33));
  for (Floats& input : inputs)
    for (float& value : input) value = static_cast<float>(static_cast<double>(random()) / 9.3e18) - 1.0f;
  Runs runs("rounded", {}, "rounded(m=7, n=33)", inputs);
  const Floats unfused = runs.run("half.compute_root()\nx.in().compute_root()\nu.in().compute_root()");
  EXPECT_EQ(runs.run(""), unfused);
  EXPECT_EQ(runs.run("y.vectorize(n, 8, GuardWithIf)\nhalf.compute_at(y, m).vectorize(n, 4, GuardWithIf)"), unfused);
  runs.expect_always(unfused, 12);
}

// A row of 1 and 10 is scaled by 44.8: its first element becomes 44.8, then 44, then 55/56. Scaled by its own size it would stay 1.
TEST(NumericsTest, a_row_is_complete_before_it_is_scaled) {
  Runs runs("row_scaled", {}, "row_scaled(m=1, n=2)", {{1, 10}});
  EXPECT_EQ(runs.refusal("scaled.compute_at(largest, k)"),
            "`scaled.compute_at(largest, k)`: loop 'k' of largest does not enclose every read of scaled; scaled may be at compute_root(), compute_at(y, m), "
            "compute_at(y, n)");
  EXPECT_EQ(runs.refusal("largest.compute_inline()"),
            "`largest.compute_inline()`: largest has 1 update and needs storage; use compute_root() or compute_at(stage, loop)");
  const Floats expected = runs.run("largest.compute_root()\nscaled.compute_root()");
  EXPECT_NEAR(expected[0], 55.0 / 56.0, 1e-6);
  EXPECT_NEAR(expected[1], 10.0, 1e-6);
  runs.expect_always(expected, 12);
}

// Partial sums round otherwise than one sum does, so a strict operator has none; a largest element does not round, but is a float all the same.
TEST(NumericsTest, what_exceeds_a_contract_is_refused_by_name_before_any_build) {
  Runs runs("row_scaled", {}, "row_scaled(m=1, n=2)", {{1, 10}});
  EXPECT_EQ(runs.refusal("largest.compute_root()\nlargest.update(0).split(k, ko, ki, 2).rfactor(ko, u)"),
            "`largest.update(0).rfactor(ko, u)`: it keeps several partial sums of 'ko', and the contract of row_scaled is strict: the same bits under every "
            "schedule; its reduction loops may be split, but neither regrouped nor reordered");
  const generators::Build build = host::build(runs.algorithm(), parse_schedule("largest.compute_root()\nlargest.update(0).atomic().vectorize(k, 2)"),
                                              runs.problem(), host::probe_cpu());
  ASSERT_TRUE(build.rejection);
  EXPECT_FALSE(build.predicted);
  EXPECT_EQ(build.rejection->text,
            "`largest.update(0).vectorize(k, 2)`: it keeps several partial sums of 'k', and the contract of row_scaled is strict: the same bits under every "
            "schedule; only pure loops may be vectorized");
}

}  // namespace
}  // namespace kiln::tests
