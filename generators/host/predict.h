// From the loops of a lowered program to its predicted report. Pure arithmetic; the formulas:
//
//   flops            sum over loops of trips x (operations in the body); +, -, x, /, min, max and a call of a function of floats are one each a lane.
//   parallel_tasks   of the largest outermost parallel loop: its trips times those of parallel loops directly inside it.
//   peak             an allocation is alive around its children; siblings do not overlap; inside a parallel loop as many copies as
//                    min(cores, trips). Stack allocations count too.
//   working set      touched_bytes of one iteration of a loop: outer loops stand still, inner loops run through.
//   traffic into a   T(loop) = touched_bytes of the whole loop if one iteration of it fits the level (what the next iteration shares is still
//   level of size S  there), else trips x (T of each loop in its body + the lines that the body touches directly). l1 and l2 belong to one core; l3 is
//                    shared: min(cores, trips) iterations of a parallel loop must fit together (never more than the whole loop), and each loop
//                    inside has that share of S. The sum over cores is reported; a line that is written counts once.
//
// Every loop is represented by its middle iteration (loop_tree.h). A figure that depends on a trip count or a size that is not known is absent.
#pragma once

#include "dsl/device.h"
#include "generators/host/loop_tree.h"
#include "generators/report.h"

namespace kiln::generators::host {

Predicted predict(const LoopTree& program, const Device& device);

}  // namespace kiln::generators::host
