// From the loops of a lowered program to its predicted report: the formulas of dsl/footprint.h over footprint_of(program), in whole cache lines.
// +, -, x, /, min, max and a call of a function of floats count as one operation each a lane. l1 and l2 belong to a core, l3 to the chip.
// Every loop is represented by its middle iteration (loop_tree.h). A figure that depends on a trip count or a size that is not known is absent.
#pragma once

#include "dsl/device.h"
#include "dsl/footprint.h"
#include "generators/host/loop_tree.h"
#include "generators/report.h"

namespace kiln::generators::host {

Predicted predict(const LoopTree& program, const Device& device);

// The same formulas over any tree; `allocations` stays 0.
Predicted predict(const FootprintTree& tree, const Device& device);

}  // namespace kiln::generators::host
