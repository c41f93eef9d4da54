// An algorithm, a problem and a schedule as kernels, with what their callers are told.
#pragma once

#include <string>

#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/launch_record.h"

namespace kiln::tests {

struct Lowered {
  Algorithm algorithm;
  Problem problem;
  generators::cuda::Program program;
  generators::cuda::LaunchRecord record;

  Lowered(Algorithm of, const char* problem_text, const std::string& schedule)
      : algorithm(std::move(of)), problem(resolve(parse_problem_text(problem_text), algorithm)), program(generators::cuda::lower(algorithm, parse_schedule(schedule), problem)),
        record(generators::cuda::launch_record(program)) {}

  generators::cuda::Extents extents() const {
    return [this](const Axis& place) { return extent_of(problem, algorithm, place.argument, place.dimension); };
  }
};

}  // namespace kiln::tests
