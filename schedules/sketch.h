// A space for an algorithm that nobody wrote one for, by rules: each stage is put in place of each read, computed in the loops of a stage that reads
// it, or at root (schedules/fusion); what is at root has tiles on two levels and tasks of its own (schedules/nest); reductions run along a loop, in
// partial sums or in parts (schedules/sketch_stage). What it draws is legal by its constraints; a new rule is a word or a knob in one of these.
#pragma once

#include <string>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

inline constexpr const char* kSketch = "sketch";

// Satisfiable, with at least one seed. The problem's extents decide which values the knobs have. Throws UsageError when the device is no CPU.
Space sketch(const Algorithm& algorithm, const Problem& problem, const Device& device, const std::string& name = kSketch);

}  // namespace kiln::schedules
