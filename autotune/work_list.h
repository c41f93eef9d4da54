// From what the user named to what will be worked on: algorithms read, problems resolved, calls counted.
#pragma once

#include <vector>

#include "autotune/reader.h"
#include "autotune/session.h"
#include "autotune/work_item.h"
#include "db/store.h"

namespace kiln::autotune {

// Imports the demand files, reads every algorithm once, keeps algorithms and problems in the store, links demand to them. Each problem once,
// most calls first. Throws UsageError for what cannot be understood, before anything is tuned.
std::vector<WorkItem> work_list(const TuneOptions& options, Reader& reader, db::Store& store);

}  // namespace kiln::autotune
