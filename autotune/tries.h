// Schedules that a user brings (`--try`), each for the problems that it is legal for.
#pragma once

#include <filesystem>
#include <vector>

#include "autotune/entrant.h"

namespace kiln::autotune {

// For each item, in their order, the schedules of the files that are legal for it, in the files' order. Throws ScheduleError naming the file that is no
// schedule, or is legal for no item.
std::vector<std::vector<Schedule>> tries_for(const std::vector<WorkItem>& items, const std::vector<std::filesystem::path>& files);

}  // namespace kiln::autotune
