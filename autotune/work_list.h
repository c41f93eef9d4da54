// From what the user named to what will be worked on: algorithms read, problems resolved, calls counted.
#pragma once

#include <memory>
#include <vector>

#include "autotune/reader.h"
#include "autotune/session.h"
#include "db/store.h"
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

// Imports the demand files, reads every algorithm once, keeps algorithms and problems in the store, links demand to them. Each problem once,
// most calls first. Throws UsageError for what cannot be understood, before anything is tuned.
std::vector<WorkItem> work_list(const TuneOptions& options, Reader& reader, db::Store& store);

}  // namespace kiln::autotune
