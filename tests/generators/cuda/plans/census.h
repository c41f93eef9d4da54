// What a space holds, through the compiler: all seeds, a plan for each value of each knob, random ones; and what was predicted of it, held against
// what the compiler says.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "generators/build.h"
#include "generators/cuda/compile/nvrtc.h"

namespace kiln::tests {

struct PlansOfProblem {
  Algorithm algorithm;
  Problem problem;
  std::vector<std::string> schedules;
};

// Of the problem's space on an H200. Seed of the random plans: KILN_TEST_SEED.
PlansOfProblem plans_of(Algorithm algorithm, const std::string& problem);

// Counts over all plans. A plan that is refused without a reason, by the compiler, or as a schedule that no kernel can honour is a failure of the
// test.
class Census {
 public:
  // Compilations are shared out among the processors.
  void compile(const std::vector<PlansOfProblem>& problems, const generators::cuda::compile::Nvrtc& nvrtc);

  // Shared memory and blocks are exact; registers within 8, or 15 %, of nearly all plans; spills of more than 8 bytes are foreseen, and seldom
  // where there are none.
  void expect_predicted(int fewest_spilling) const;

 private:
  struct Compared {
    std::string plan;
    generators::KernelResources predicted, actual;
    bool fits() const;
  };

  void take(const PlansOfProblem& of, const std::string& schedule, const generators::Build& build);
  std::string summary() const;

  std::mutex mutex_;
  std::vector<Compared> compared_;
  std::map<std::string, int> rejected_;
  double seconds_ = 0;
};

}  // namespace kiln::tests
