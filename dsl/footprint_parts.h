// What the formulas of dsl/footprint share: one iteration as a sequence of steps.
#pragma once

#include <set>
#include <vector>

#include "dsl/footprint.h"

namespace kiln {

// The loops directly inside a part, through allocations, in order; what it touches outside them is the last step.
std::vector<const FootprintNode*> loops_of(const FootprintPart& part);
std::vector<BufferBytes> steps_of(const FootprintPart& part);

// What the step that needs the most needs, while one iteration of `part` runs. A buffer is there from the first step that uses it to the last; if
// the next iteration of `loop` finds some of it again, all the time. `loop` may be null: there is no next iteration.
BufferBytes most_held(const FootprintPart& part, const FootprintNode* loop);

// Buffers allocated by a part outside its loops, and those anywhere inside it.
std::set<int> allocated_at_top(const FootprintPart& part);
std::set<int> allocated_inside(const FootprintPart& part);

}  // namespace kiln
