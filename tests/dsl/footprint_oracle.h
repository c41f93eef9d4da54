// A scheduled algorithm run element by element, counting what it touches: slow and without a formula. For dsl/footprint's tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"

namespace kiln::tests {

struct Counted {
  double flops = 0;
  std::map<std::string, std::int64_t> iterations;  // by loop, as a schedule names it
  std::map<std::string, std::int64_t> touched;     // the most that one iteration touches, bytes
  std::map<std::string, std::int64_t> swept;       // the most over executions of a loop: new to each iteration against the one before, bytes
  std::map<std::string, std::int64_t> whole;       // the most over executions of a loop: touched by all its iterations, bytes
  std::map<std::string, std::int64_t> allocated;   // the largest storage of a stage, bytes

  // Every access in order. An element is a number; storage made anew has new ones.
  struct Access {
    std::int64_t element = 0;
    bool is_scratch = false;
  };
  std::vector<Access> trace;
};

// Elements of one size, indices that are sums of loops and constants, tails that guard, no storage beyond where a stage is computed.
Counted count(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem);

// How often an element comes in from outside when the memory of `room` elements always gives up what is used again last (Belady). The first
// touch of scratch brings in nothing.
std::int64_t fewest_crossings(const std::vector<Counted::Access>& trace, std::size_t room);

}  // namespace kiln::tests
