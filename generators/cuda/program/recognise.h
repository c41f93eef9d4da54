// From a scheduled algorithm to the kernels that compute it, in the order of their launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/loop_nest.h"
#include "dsl/problem.h"
#include "generators/cuda/program/computation.h"

namespace kiln::generators::cuda {

// What one kernel writes and a later one reads.
struct Intermediate {
  std::string name;     // the stage's
  DType type;
  std::vector<KernelAxis> dimensions;  // innermost first
  std::int64_t bytes() const;
  bool operator==(const Intermediate&) const = default;
};

struct Recognised {
  std::vector<Computation> kernels;
  std::vector<int> leaders;             // of each kernel: the stage in the nest whose directives shape it
  std::vector<Intermediate> intermediates;
};

// Every stage computed at root is a kernel; outputs that compute_with joins share one. Stages computed at a row of a kernel's stage are one value a row, or
// elements kept in registers; a sum of its own for each element is computed at the innermost loop over blocks, or where there are none at the columns;
// inlined stages are written out where they are read. `nest` has the schedule's loops and is legal. Throws ScheduleError naming the stage and the requirement
// that it misses: what reads an operand at other places than its own column and row, several updates, …
Recognised recognise(const LoopNest& nest, const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln::generators::cuda
