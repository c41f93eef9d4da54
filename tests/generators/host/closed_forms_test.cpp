// The closed forms of dsl/footprint against the loops that Halide itself makes of the same schedule, both in bytes. Tiles divide, so that all
// iterations are the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "dsl/apply.h"
#include "dsl/footprint_read.h"
#include "dsl/legality.h"
#include "dsl/read_algorithm.h"
#include "dsl/rebuild.h"
#include "generators/host/footprint.h"
#include "generators/host/host.h"
#include "generators/host/lowered.h"
#include "generators/host/predict.h"
#include "generators/operators/operators.h"
#include "tests/support/random_schedule.h"

namespace kiln::generators::host {
namespace {

constexpr const char* kTarget = "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake-no_runtime";

Device device() {
  Device device;
  device.cores = 2;
  device.l1_bytes = 32 * 1024;
  device.l2_bytes = 256 * 1024;
  return device;
}

Algorithm read(const std::string& name) {
  shipped_operators();
  return read_algorithm(name, {}, kTarget);
}

void expect_as_lowered(const Algorithm& algorithm, const std::string& text, const Problem& problem) {
  SCOPED_TRACE(print(problem) + "\n" + text);
  const Schedule schedule = parse_schedule(text);
  const ClosedForms forms = read_footprint(algorithm, schedule, problem);
  ASSERT_TRUE(forms.tree) << forms.why_not;
  const Predicted closed = predict(*forms.tree, device());
  Pipeline pipeline = rebuild(algorithm);
  apply(schedule, pipeline);
  const LoopTree program = lower(pipeline, "kiln_test", Halide::Target(kTarget), algorithm, problem).program;
  const Predicted lowered = predict(footprint_of(program, 1), device());
  EXPECT_EQ(closed.flops, lowered.flops);
  EXPECT_EQ(closed.compulsory_bytes, lowered.compulsory_bytes);
  EXPECT_EQ(closed.parallel_tasks, lowered.parallel_tasks);
  EXPECT_EQ(closed.peak_intermediate_bytes, lowered.peak_intermediate_bytes);
  for (const LoopBytes& set : lowered.working_sets) {
    const auto same = std::find_if(closed.working_sets.begin(), closed.working_sets.end(), [&](const LoopBytes& s) { return s.loop == set.loop; });
    ASSERT_NE(same, closed.working_sets.end()) << set.loop;
    EXPECT_EQ(same->bytes, set.bytes) << set.loop;
  }
  EXPECT_EQ(closed.traffic_bytes, lowered.traffic_bytes);
}

template <typename T>
T pick(std::mt19937_64& random, std::vector<T> from) {
  return from[static_cast<std::size_t>(random() % from.size())];
}

std::string random_schedule(std::mt19937_64& random) {
  std::string text = fmt::format("y.tile(n, m, no, mo, ni, mi, {}, {})", pick<int>(random, {16, 32, 64}), pick<int>(random, {2, 4, 8}));
  text += pick<std::string>(random, {"", ".reorder(ni, mi, mo, no)"}) + pick<std::string>(random, {"", ".parallel(mo)", ".parallel(no)"});
  text += pick<std::string>(random, {"", ".vectorize(ni, 16)"}) + "\n";
  text += "c." + pick<std::string>(random, {"compute_at(y, no)", "compute_at(y, mo)", "compute_root()"}) + pick<std::string>(random, {"", ".vectorize(n, 16)"}) + "\n";
  text += fmt::format("c.update(0).split(k, ko, ki, {})", pick<int>(random, {16, 32}));
  text += pick<std::string>(random, {".reorder(n, ki, m, ko)", ".reorder(n, m, ki, ko)"}) + pick<std::string>(random, {"", ".vectorize(n, 16)"}) + "\n";
  return text;
}

TEST(ClosedForms, of_random_products_are_those_of_the_lowered_program) {
  const Algorithm product = read("matmul");
  std::mt19937_64 random(tests::test_seed(4));
  for (int i = 0; i < 24 && !testing::Test::HasFailure(); ++i) {
    const std::string problem =
        fmt::format("matmul(m={}, n={}, k={})", pick<int>(random, {32, 48}), pick<int>(random, {128, 192}), pick<int>(random, {64, 128}));
    expect_as_lowered(product, random_schedule(random), resolve(parse_problem_text(problem), product));
  }
}

TEST(ClosedForms, of_a_norm_are_those_of_the_lowered_program) {
  const Algorithm norm = read("rmsnorm");
  const Problem problem = resolve(parse_problem_text("rmsnorm(m=24, n=256)"), norm);
  expect_as_lowered(norm, "y.parallel(m)\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n", problem);
  expect_as_lowered(norm, "y.split(m, mo, mi, 4).parallel(mo)\nsquares.compute_root()\n", problem);
}

}  // namespace
}  // namespace kiln::generators::host
