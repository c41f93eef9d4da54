// The autoschedulers that the Halide package ships beside its library.
#pragma once

#include <string>
#include <vector>

#include "dsl/schedule.h"

namespace Halide {
struct AutoschedulerParams;
}

namespace kiln {

std::vector<std::string> available_autoschedulers();  // sorted: Adams2019, …

// What `autoschedule(Mullapudi2016, parallelism=2)` asks of Halide, its plugin loaded. Throws ScheduleError listing those that there are.
Halide::AutoschedulerParams load_autoscheduler(const Directive& directive);

}  // namespace kiln
