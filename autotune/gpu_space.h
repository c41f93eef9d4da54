// The space that a problem's schedules for a GPU come from.
#pragma once

#include "autotune/builds.h"
#include "schedules/space.h"

namespace kiln::autotune {

// Throws UsageError with the reason when no space has schedules for the problem.
schedules::Space gpu_space(const WorkItem& item, const Device& gpu, Builds& builds);

}  // namespace kiln::autotune
