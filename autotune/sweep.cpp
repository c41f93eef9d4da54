#include "autotune/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"

namespace kiln::autotune {

Sweep sweep(Run& run, const WorkItem& item, const ObjectRef& reference, const ObjectRef& object, const std::vector<Problem>& problems,
            int alignment_bytes) {
  Sweep result;
  for (const Problem& problem : problems) {
    std::string key;
    try {
      key = run.measurer.prepare(subject_of(item.algorithm, problem, reference, run.seed)).key;
    } catch (const UsageError&) {
      continue;
    }
    Candidate candidate;
    candidate.object = object;
    CheckOptions options;
    options.alignment_bytes = alignment_bytes;
    options.call_limit_s = run.limits.call_s;
    options.ragged = false;
    const CheckOutcome outcome = run.measurer.check(key, candidate, options);
    if (outcome.rejection) {
      result.failure = fmt::format("{}: {}", print(problem), outcome.rejection->text);
      return result;
    }
    result.checked.push_back(print(problem));
    if (outcome.worst) result.max_error = std::max(result.max_error, outcome.worst->severity);
  }
  if (result.checked.empty()) result.failure = "none of the problems to check it on can be run by the reference";
  return result;
}

std::map<db::AlgorithmId, std::vector<const WorkItem*>> by_algorithm(const std::vector<Tuning>& tunings) {
  std::map<db::AlgorithmId, std::vector<const WorkItem*>> groups;
  for (const Tuning& tuning : tunings) groups[tuning.item().algorithm_id].push_back(&tuning.item());
  return groups;
}

}  // namespace kiln::autotune
