// `kiln export`: choices -> a package beside the target -> every variant called through it in a fresh process -> the target replaced.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "autotune/process/child.h"
#include "db/store.h"
#include "generators/package/from_store.h"

namespace kiln::autotune::cli {

struct ExportRequest {
  generators::package::SetRequest set;
  std::filesystem::path target;        // -o: the prefix that receives include/, lib/, …
  std::filesystem::path cache_folder;
  Launch launch;
};

struct ExportedEntry {
  std::string c_name, entry;           // in words: "matmul(f32, epilogue=silu)"
  int exact = 0, bucket = 0, generic = 0;
  double calls = 0, exact_calls = 0;   // of the demand
};

struct ExportReport {
  std::vector<ExportedEntry> entries;
  std::vector<std::string> left_out;   // problems without a kernel in the package, with the reason
  std::vector<std::string> failed;     // variants that failed in the package and were replaced by the next choice
  int verified = 0;                    // calls compared with the reference
  int not_called = 0;                  // variants for GPUs that are not here: checked where they were measured
  std::string library_digest;          // of lib/lib<set>.so, 12 digits
};

// `note` hears what is being done. A variant that fails in the package is recorded as a failed verification, excluded, and the choice is made again;
// the old package stays until everything passes. Throws as collect() and stage() do, and Error when no set of variants passes.
ExportReport export_set(db::Store& store, const ExportRequest& request, const std::function<void(const std::string&)>& note);

}  // namespace kiln::autotune::cli
