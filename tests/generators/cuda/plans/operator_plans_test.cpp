// The shipped operators' own spaces, as a night meets them: every kind of plan becomes a cubin or is refused with a reason, and what was predicted of
// it holds.
#include <gtest/gtest.h>

#include "dsl/read_algorithm.h"
#include "generators/cuda/build.h"
#include "generators/host/host.h"
#include "generators/operators/operators.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/generators/cuda/compile/with_nvrtc.h"
#include "tests/generators/cuda/plans/census.h"

namespace kiln::tests {
namespace {

PlansOfProblem of_operator(const std::string& problem) {
  generators::shipped_operators();
  const std::string target = generators::host::target_string(generators::host::probe_cpu(), generators::host::Isa::native, Contract::bounded);
  const ProblemText text = parse_problem_text(problem);
  const OperatorSignature signature = signature_of(text.operator_name, target);
  return plans_of(read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), target), problem);
}

class OperatorPlans : public generators::cuda::compile::WithNvrtc {};

TEST_F(OperatorPlans, compile_and_take_what_was_predicted) {
  std::vector<PlansOfProblem> problems;
  for (const char* problem :
       {"swiglu(m=1024, n=12288, bf16)", "swiglu_quant(m=1024, n=12288, bf16)", "swiglu_quant(m=1024, n=12288, bf16, scale=row)",
        "swiglu_quant(m=1, n=12288, bf16, scale=row)", "rmsnorm(m=1024, n=4096, bf16)", "softmax(m=4096, n=8192, bf16)", "transpose(m=4096, n=4096)",
        "matvec(m=1, n=12288, k=4096, bf16)", "matvec(m=2, n=12288, k=4096, bf16, weights=kn)"})
    problems.push_back(of_operator(problem));
  Census census;
  census.compile(problems, *nvrtc_);
  census.expect_predicted(30);
}

// No instruction of Hopper's is left in what the operators' spaces begin with.
TEST_F(OperatorPlans, of_an_older_device_compile) {
  const Device& older = schedules::device_named("sm_80");
  for (const char* problem : {"swiglu(m=64, n=4096, bf16)", "swiglu_quant(m=64, n=12288, bf16)", "swiglu_quant(m=64, n=12288, bf16, scale=row)",
                              "rmsnorm(m=64, n=4096, bf16)", "softmax(m=64, n=8192, bf16)", "transpose(m=4096, n=4096)",
                              "matvec(m=1, n=12288, k=4096, bf16)", "matvec(m=2, n=12288, k=4096, bf16, weights=kn)"}) {
    const PlansOfProblem plans = of_operator(problem);
    const schedules::Space space = schedules::space_for(plans.algorithm, plans.problem, older).value();
    for (const schedules::Seed& seed : space.seeds()) {
      const Schedule schedule = space.schedule(seed.point);
      const generators::Build build = generators::cuda::build(*nvrtc_, plans.algorithm, schedule, plans.problem, older);
      EXPECT_FALSE(build.rejection) << problem << "\n" << print(schedule) << build.rejection->text;
      EXPECT_TRUE(build.artifact) << problem;
    }
  }
}

}  // namespace
}  // namespace kiln::tests
