// The ring skeleton: a product's plan as CUDA C++ that reads like a kernel written by hand.
#pragma once

#include <string>
#include <vector>

#include "generators/cuda/emit/stream.h"
#include "generators/cuda/plan/ring_plan.h"

namespace kiln::generators::cuda {

// `name` is the function's. The kernel's parameters are the plan's tensor maps, then those that `parameters` lists, then `int group`, `u64 hint_p` and
// `u64 hint_q`: how tiles are grouped and what L2 is told of both operands. Throws ScheduleError for an expression that no kernel can say.
KernelText emit_ring(const RingPlan& plan, const std::string& name);

// A translation unit with the files of the prelude that its rings need beside the stream's; as it is when there are none.
std::string with_ring_prelude(const std::string& unit, const std::vector<const RingPlan*>& rings);

}  // namespace kiln::generators::cuda
