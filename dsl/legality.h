// May this schedule be applied to this algorithm? Asked before any compile; Halide accepts much that is not what was meant.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dsl/algorithm.h"
#include "dsl/directive.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"

namespace kiln {

struct Illegal {
  std::size_t directive = 0;  // index into schedule.directives
  std::string message;        // starts with the directive as text; names the requirement and what would be legal
  bool breaks_contract = false;  // it does more to the numbers than the algorithm's contract allows
};

// The first directive that must not be applied, or nothing. `problem` may be null: checks that need extents are then left out.
std::optional<Illegal> find_illegal(const Schedule& schedule, const Algorithm& algorithm, const Problem* problem);

// Throws ScheduleError with the message; a NumericsError where it breaks the contract.
[[noreturn]] void refuse(const Illegal& illegal);

// The same with what find_illegal finds.
void require_legal(const Schedule& schedule, const Algorithm& algorithm, const Problem* problem);

// The strongest thing that a legal schedule does to the float sums of the algorithm. any_order: the bits may differ from call to call.
NumericsEffect effect_of(const Schedule& schedule, const Algorithm& algorithm);

struct AlgorithmFacts;
class LoopNest;

// find_illegal of a schedule that is not opaque, over an untouched nest, which then has the loops that the schedule makes.
std::optional<Illegal> rewrite_loops(LoopNest& nest, const Schedule& schedule);

// The same for many schedules of one algorithm: reads its expressions once. `algorithm` must outlive it; it may be shared between threads.
class Legality {
 public:
  Legality(const Algorithm& algorithm, const Problem* problem);
  std::optional<Illegal> find_illegal(const Schedule& schedule) const;

 private:
  std::shared_ptr<const AlgorithmFacts> facts_;
};

}  // namespace kiln
