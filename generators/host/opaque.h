// The two schedules that stand for what others decide: the author's own, and an autoscheduler's.
#pragma once

#include <Halide.h>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "dsl/rebuild.h"
#include "dsl/schedule.h"

namespace kiln::generators::host {

// `schedule` is opaque and passed find_illegal. An autoscheduler follows the problem's extents as estimates. Throws ScheduleError for an own schedule
// or an autoscheduler that is not there (lists those beside libHalide), Halide::Error for what the autoscheduler refuses.
Pipeline rebuild_opaque(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Halide::Target& target);

// While it lives, and if an autoscheduler makes `schedule`, Halide lowers a loop that is to be unrolled but has no constant extent as a loop: Adams2019
// asks for such. Halide is told by an environment variable of its own (HL_PERMIT_FAILED_UNROLL), so this is for a process that builds one at a time.
class OpenUnrolls {
 public:
  explicit OpenUnrolls(const Schedule& schedule);
  ~OpenUnrolls();
  OpenUnrolls(const OpenUnrolls&) = delete;
  OpenUnrolls& operator=(const OpenUnrolls&) = delete;

 private:
  bool was_set_here_ = false;
};

}  // namespace kiln::generators::host
