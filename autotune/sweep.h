// One object checked on several problems of its algorithm.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "autotune/tuning.h"

namespace kiln::autotune {

// What a check of one object over several problems found.
struct Sweep {
  std::vector<std::string> checked;
  double max_error = 0;
  std::string failure;  // empty: all passed
};

// The reference's own demands decide which problems make sense: one that it cannot run is left out.
Sweep sweep(Run& run, const WorkItem& item, const ObjectRef& reference, const ObjectRef& object, const std::vector<Problem>& problems,
            int alignment_bytes);

std::map<db::AlgorithmId, std::vector<const WorkItem*>> by_algorithm(const std::vector<Tuning>& tunings);

}  // namespace kiln::autotune
