// From algorithm, schedule and problem to a FootprintTree, without lowering anything: each loop once, its bytes by interval arithmetic.
#pragma once

#include <optional>
#include <string>

#include "dsl/algorithm.h"
#include "dsl/footprint.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"

namespace kiln {

struct ClosedForms {
  std::optional<FootprintTree> tree;
  std::string why_not;  // when there is none: the schedule is opaque or illegal, factors or specialises a stage, or a region depends on values
};

// The rules:
//   A stage computed at a loop is needed there over the hull of what one iteration reads of it; an inlined one wherever it is read.
//   Iterations of a loop that run over equally much are represented by one in their middle; where a tail asks for less, by several.
//   What two iterations share is what their regions have in common; a buffer read at several places is touched over their hull, or their sum
//   when that is less. An index that skips elements touches those between: memory is fetched in lines.
//   A stage stored further out than it is computed is computed over what the iteration before did not compute, and stored unfolded: its storage
//   is an upper bound.
//   Vectorised and unrolled loops are loops that no schedule names any more.
ClosedForms read_footprint(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem);

// Every stage once and whole: the least work that the problem is, whatever its schedule. (Unscheduled it would be the most: each value anew for each reader.)
ClosedForms read_least_work(const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln
