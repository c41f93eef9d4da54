// `kiln explain`: a candidate's reports, its times or its rejection, what binds it and what would help.
#pragma once

#include <optional>
#include <string>

#include "autotune/advice.h"
#include "autotune/explain.h"

namespace kiln::autotune::cli {

struct Explanation {
  ExplainSubject subject;
  Device device;
  int threads = 1;
  Costs costs;
  generators::Build build;
  std::optional<KnownTime> known;
  Advice advice;
};

std::string print_explanation(const Explanation& explanation);
// {operator, problem, candidate, schedule, device, threads, closed_forms, predicted, actual, rejection, known, binds, bounds_cycles, advice, next}
std::string explanation_json(const Explanation& explanation);

}  // namespace kiln::autotune::cli
