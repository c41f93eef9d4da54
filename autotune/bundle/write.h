// A bundle's folder: its store, the program that measures, and how to use them.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "autotune/process/objects.h"
#include "autotune/work_item.h"
#include "db/store.h"

namespace kiln::autotune {

struct BundleParts {
  db::RunId run{};                           // that planned
  std::map<Digest, ObjectRef> references;    // by algorithm
  std::vector<WorkItem> items;
  std::filesystem::path program;             // that measures
};

// Throws UsageError for a folder that is there already and holds something.
void require_new_folder(const std::filesystem::path& folder);

// Copies of the store what a bundle needs. Returns the bytes of the folder. Throws DataError when a disk refuses.
std::int64_t write_bundle(db::Store& store, const Objects& objects, const BundleParts& parts, const std::filesystem::path& folder);

}  // namespace kiln::autotune
