// Definitions that share loops by compute_with, checked when all loops and places are known.
#pragma once

#include <optional>

#include "dsl/legality.h"
#include "dsl/loop_nest.h"

namespace kiln {

// The earliest compute_with, or placement at a shared loop, that cannot stand:
//   the two stages are computed at the same place, neither is inlined, specialized or stored further out than computed;
//   neither reads the other, directly or through others, and no circle of shared loops and reads arises;
//   the loops from the shared one outwards are the same in both: names, order, kinds, and the splits that made them;
//   the updates of one stage follow each other in the other's order.
std::optional<Illegal> find_unfit_companion(const LoopNest& nest);

}  // namespace kiln
