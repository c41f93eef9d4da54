// Is the store whole? SQLite's own checks, then the promises that constraints cannot express.
#pragma once

#include <string>
#include <vector>

#include "db/store.h"

namespace kiln::db {

struct Finding {
  std::string check;  // integrity · foreign_keys · artifacts · races · choices · digests · trials
  std::string text;   // which row, what is wrong
};

// Empty when all is well. Reads the whole file.
std::vector<Finding> check(Store& store);

// A copy of the store as one file, consistent even while others write. Throws DataError when `path` exists.
void backup(Store& store, const std::string& path);
void vacuum(Store& store);

}  // namespace kiln::db
