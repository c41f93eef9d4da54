// The schedules that a problem's search on a GPU begins with.
#pragma once

#include <vector>

#include "autotune/builds.h"

namespace kiln::autotune {

// The seeds of its space; where no space has schedules for it, what the user brought. Throws UsageError with the reason when there is neither.
std::vector<Wish> gpu_starts(const WorkItem& item, const Device& gpu, Builds& builds, const std::vector<Wish>& brought);

}  // namespace kiln::autotune
