// Where the loops that a schedule made of a stage's own lead: each is a digit of one of them, or of several fused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/loop_nest.h"

namespace kiln::generators::cuda {

struct LoopDigit {
  std::string name;
  LoopKind kind = LoopKind::serial;
  std::vector<int> of;                 // places among the stage's own loops that were fused, innermost first; one when nothing was
  std::int64_t stride = 1;             // how far one step of the loop leads
  std::optional<std::int64_t> count;   // iterations, when known
};

// Innermost first. Throws ScheduleError where part of a split loop is fused, and where what a factor leaves over is not masked.
std::vector<LoopDigit> spread_of(const StageLoops& stage);

}  // namespace kiln::generators::cuda
