// Where a chain of stages may be cut into kernels, judged by what crosses memory then: fusion as a choice with its numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/footprint.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"

namespace kiln {

struct Boundaries {
  std::vector<std::string> at_root;      // the stages after which a kernel ends
  Schedule schedule;
  std::vector<std::string> kernels;
  std::int64_t traffic_bytes = 0;
  std::int64_t peak_live_bytes = 0;
};

// Which of `stages` end a kernel -> the schedule of that.
using ScheduleOfCuts = std::function<Schedule(const std::vector<bool>& at_root)>;

// Every way to cut, 2^n for n stages (at most 16), least traffic into `memory` first, then fewest kernels. A way whose schedule is illegal or has
// no closed form is left out.
std::vector<Boundaries> rank_boundaries(const Algorithm& algorithm, const Problem& problem, const std::vector<std::string>& stages,
                                        const ScheduleOfCuts& schedule_of, const Memory& memory);

}  // namespace kiln
