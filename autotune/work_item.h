// One problem that a run works on.
#pragma once

#include <memory>

#include "db/ids.h"
#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln::autotune {

struct WorkItem {
  std::shared_ptr<const Algorithm> algorithm;  // shared by the problems of one operator under one set of GeneratorParams
  Problem problem;
  db::AlgorithmId algorithm_id{};
  db::ProblemId problem_id{};
  double calls = 1;                            // over the horizon; 1 where nobody said
};

}  // namespace kiln::autotune
