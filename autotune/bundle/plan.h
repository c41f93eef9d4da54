// What a bundle is made of, as its store says it: one run that planned candidates, with their images, and the references to check them against.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/protocol.h"
#include "autotune/process/objects.h"
#include "autotune/work_item.h"
#include "db/runs.h"
#include "dsl/device.h"

namespace kiln::autotune {

// The file of a bundle's folder that holds its store.
inline constexpr const char* kBundleStore = "bundle.db";

struct BundlePlan {
  db::RunId run{};                          // that planned
  std::string uuid;                         // of it
  std::uint64_t seed = 1;
  Device device;                            // planned for; its data sheet is not kept
  db::ToolchainId toolchain{};
  Protocol protocol;
  std::map<Digest, ObjectRef> references;   // by algorithm: libraries that need no linker
  std::vector<WorkItem> items;
};

// What read_plan() finds again, as the options of the run that planned: `options` with the references and the calls of each problem in it.
std::string with_plan(const std::string& options, const std::map<Digest, ObjectRef>& references, const std::vector<WorkItem>& items);

// Throws DataError for a store without a planned run.
BundlePlan read_plan(db::Store& store);

// The uuid of the run whose bundle a run measured; empty: it measured none.
std::string bundle_of(const db::RunRow& run);

}  // namespace kiln::autotune
