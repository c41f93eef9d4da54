// One problem of a shipped operator, built here under a seed of its space and called on memory of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/problem.h"
#include "dsl/read_algorithm.h"
#include "generators/host/call.h"
#include "generators/host/host.h"
#include "generators/host/loaded.h"
#include "generators/operators/operators.h"
#include "generators/runtime/host.h"
#include "schedules/spaces.h"

namespace kiln::tests {

class OperatorRun {
 public:
  explicit OperatorRun(const std::string& problem) : device_(generators::host::probe_cpu()) {
    generators::shipped_operators();
    const std::string target = generators::host::target_string(device_, generators::host::Isa::native, Contract::bounded);
    const ProblemText text = parse_problem_text(problem);
    const OperatorSignature signature = signature_of(text.operator_name, target);
    algorithm_ = read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), target);
    problem_ = resolve(text, algorithm_);
    const schedules::Space space = *schedules::space_for(algorithm_, problem_, device_);
    for (const schedules::Seed& seed : space.seeds()) seeds_.push_back(space.schedule(seed.point));
  }

  const Algorithm& algorithm() const { return algorithm_; }
  const Problem& problem() const { return problem_; }
  const std::vector<Schedule>& seeds() const { return seeds_; }

  generators::Build build(const Schedule& schedule, const Device& device) const {
    return generators::host::build(algorithm_, schedule, problem_, device);
  }

  // Builds for this CPU and calls; returns the call's code.
  int call(const Schedule& schedule, const std::vector<void*>& pointers) const {
    const generators::Build built = build(schedule, device_);
    if (built.rejection) {
      ADD_FAILURE() << built.rejection->text << "\n" << print(schedule);
      return -1;
    }
    const generators::host::Loaded loaded(*built.artifact);
    generators::host::Call call(algorithm_, generators::host::extents_of(algorithm_, problem_), pointers);
    kiln_host_clear_error();
    return loaded(call.argv());
  }

 private:
  Device device_;
  Algorithm algorithm_;
  Problem problem_;
  std::vector<Schedule> seeds_;
};

}  // namespace kiln::tests
