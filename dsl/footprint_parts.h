// What the formulas of dsl/footprint share: one iteration as a sequence of steps.
#pragma once

#include <set>
#include <vector>

#include "dsl/footprint.h"

namespace kiln {

// The loops directly inside a part, through allocations, in order; what it touches outside them is the last step.
std::vector<const FootprintNode*> loops_of(const FootprintPart& part);
std::vector<BufferBytes> steps_of(const FootprintPart& part);

// What each step needs while one iteration of `loop`, of which `part` is one, runs. A buffer is there from the first step that uses it to the
// last; if the next iteration finds some of it again, all the time.
std::vector<BufferBytes> held_by_step(const FootprintPart& part, const FootprintNode& loop);
std::int64_t most_held(const FootprintPart& part, const FootprintNode& loop);

// Buffers allocated by a part outside its loops, and those anywhere inside it.
std::set<int> allocated_at_top(const FootprintPart& part);
std::set<int> allocated_inside(const FootprintPart& part);

}  // namespace kiln
