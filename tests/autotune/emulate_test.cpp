// Which plans the emulator takes, and on what problem. Nothing is compiled or run.
#include "autotune/emulate.h"

#include <gtest/gtest.h>

#include "dsl/read_algorithm.h"
#include "generators/cuda/lower.h"
#include "generators/host/host.h"
#include "generators/operators/operators.h"
#include "schedules/devices.h"
#include "tests/db/temporary_folder.h"
#include "tests/generators/cuda/plans/census.h"

namespace kiln::autotune {
namespace {

namespace cuda = generators::cuda;

Algorithm algorithm_of(const std::string& problem) {
  generators::shipped_operators();
  const std::string target = generators::host::target_string(generators::host::probe_cpu(), generators::host::Isa::native, Contract::bounded);
  const ProblemText text = parse_problem_text(problem);
  const OperatorSignature signature = signature_of(text.operator_name, target);
  return read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), target);
}

std::optional<Problem> emulated(const Algorithm& algorithm, const std::string& schedule, const Problem& problem) {
  return emulated_problem(launch_record(cuda::lower(algorithm, parse_schedule(schedule), problem)), problem, algorithm);
}

std::string emulated(const std::string& schedule, const std::string& problem) {
  const Algorithm algorithm = algorithm_of(problem);
  const auto found = emulated(algorithm, schedule, resolve(parse_problem_text(problem), algorithm));
  return found ? print(*found) : "none";
}

TEST(EmulatedProblem, is_there_for_every_plan_of_the_operators_spaces) {
  for (const char* text : {"swiglu(m=4096, n=12288, bf16)", "swiglu(m=1024, n=12288)", "swiglu_quant(m=1024, n=12288, bf16)",
                           "swiglu_quant(m=1024, n=12288, bf16, scale=row)", "rmsnorm(m=7239, n=4096, bf16)", "rmsnorm(m=1, n=12288, bf16)",
                           "softmax(m=4096, n=8192, bf16)", "transpose(m=4096, n=4096)", "transpose(m=4096, n=4096, bf16)",
                           "matvec(m=1, n=12288, k=4096, bf16)", "matvec(m=8, n=12288, k=4096, bf16)", "matvec(m=2, n=12288, k=4096, bf16, weights=kn)"}) {
    const tests::PlansOfProblem plans = tests::plans_of(algorithm_of(text), text);
    int refused = 0;
    for (const std::string& schedule : plans.schedules)
      if (!emulated(plans.algorithm, schedule, plans.problem) && refused++ == 0) ADD_FAILURE() << text << "\n" << schedule;
    EXPECT_EQ(refused, 0) << text << ", of " << plans.schedules.size();
  }
}

TEST(EmulatedProblem, has_extents_that_the_kernels_take) {
  EXPECT_EQ(emulated("y.strips(8, 8).cluster(2).accesses(16).cache(plain, evict_first)\nc.compute_at(y, n)\n", "matvec(m=1, n=12288, k=4096, bf16)"),
            "matvec(m=1, n=40, k=272, bf16)");
  EXPECT_EQ(emulated("y.strips(8, 8)\nc.compute_at(y, n)\n", "matvec(m=1, n=12288, k=4096, bf16)"), "matvec(m=1, n=40, k=264, bf16)");
  EXPECT_EQ(emulated("y.strips(8, 8).accesses(16)\nc.compute_at(y, n)\n", "matvec(m=1, n=64, k=32, bf16)"), "matvec(m=1, n=64, k=32, bf16)");
}

// Rows of fixed length are as long as they are.
TEST(EmulatedProblem, may_be_none) {
  const std::string at_the_row = "squares.compute_at(y, m)\nscale.compute_at(y, m)\n";
  EXPECT_EQ(emulated("y.rows(1, 1024).fix(n)\n" + at_the_row, "rmsnorm(m=64, n=65536, bf16)"), "rmsnorm(m=1, n=65536, bf16)");
  EXPECT_EQ(emulated("y.rows(1, 1024).fix(n)\n" + at_the_row, "rmsnorm(m=64, n=81920, bf16)"), "none");
}

TEST(EmulatedProblem, that_is_none_is_no_fault_of_the_candidate) {
  const auto algorithm = std::make_shared<const Algorithm>(algorithm_of("rmsnorm(m=64, n=81920, bf16)"));
  const Problem problem = resolve(parse_problem_text("rmsnorm(m=64, n=81920, bf16)"), *algorithm);
  const Schedule schedule = parse_schedule("y.rows(1, 1024).fix(n)\nsquares.compute_at(y, m)\nscale.compute_at(y, m)\n");
  const Device& gpu = schedules::device_named("h200");
  const db::TemporaryFolder folder;
  const Objects objects(folder.path());
  CompilePool pool(1, gpu, objects);
  const Emulation emulation = Emulator(gpu, pool, objects).emulate(algorithm, schedule, problem, ObjectRef{});
  EXPECT_FALSE(emulation.rejection);
  EXPECT_TRUE(emulation.checked.empty());
  EXPECT_EQ(emulation.too_large, "the emulator takes 64 blocks, 16384 threads and 70000 elements: every problem that its kernels take is larger");
}

}  // namespace
}  // namespace kiln::autotune
