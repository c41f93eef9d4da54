// What the tails of splits touch beyond the loop that was split, checked when a schedule's loops and places are all known.
#pragma once

#include <optional>

#include "dsl/legality.h"
#include "dsl/loop_nest.h"

namespace kiln {

// The earliest directive whose tail
//   leaves an output, which ends where the problem says;
//   reads outside an input that a stage copies or loads element by element: what it computes there is known, and rounding leaves it;
//   blends elements of other iterations into a stage whose storage may be folded between iterations;
//   masks or blends the stores of an atomic update.
std::optional<Illegal> find_overrun(const LoopNest& nest);

}  // namespace kiln
