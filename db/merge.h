// Results from another file, by natural keys: merging twice changes nothing.
#pragma once

#include <map>
#include <string>

#include "db/store.h"

namespace kiln::db {

struct MergeOptions {
  bool trust = false;  // adopt runs that were not planned here: their results can then be chosen
};

struct MergeReport {
  std::map<std::string, std::int64_t> added;  // table -> rows
  int own_runs = 0, foreign_runs = 0;         // runs of the other file, by what they are here now
  int adopted_runs = 0;                       // foreign before, own now
};

// Everything but choices, rulings and packages. A run known here by UUID as own stays own and receives the other file's results, and a run that measured
// the bundle of such a run is own too; an unknown one arrives foreign, or own with `trust`. One transaction. Throws DataError for a file that is no store of this version.
MergeReport merge(Store& store, const std::string& other_path, const MergeOptions& options = {});

}  // namespace kiln::db
