// The kernels of the ring skeleton as people read them.
#include <gtest/gtest.h>

#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/lower.h"
#include "tests/autotune/cli/golden.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

using generators::cuda::lower;
using generators::cuda::Program;

Program lowered(const Algorithm& algorithm, const char* problem, const std::string& schedule) {
  return lower(algorithm, parse_schedule(schedule), resolve(parse_problem_text(problem), algorithm));
}

// Computation, plan and text of every kernel.
std::string page(const Program& program) {
  std::string text;
  for (const generators::cuda::Kernel& kernel : program.kernels) text += print(kernel.plan.computation()) + print(kernel.plan) + "\n";
  return text + program.text();
}

constexpr const char* kSum = "c.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n";

TEST(RingText, two_consumers_share_a_tile) {
  const std::string schedule = std::string("y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).persistent().raster(mo, 8)\n") + kSum;
  expect_golden(page(lowered(dot_by_columns(), "dot_by_columns(m=4096, n=12288, k=4096)", schedule)), "cuda/ring_cooperative.txt");
}

}  // namespace
}  // namespace kiln::tests
