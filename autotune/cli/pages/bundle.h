// What `kiln bundle` says when it is done.
#pragma once

#include <string>

#include "autotune/bundle/bundle.h"

namespace kiln::autotune::cli {

// A line a problem, then what to do with the folder.
std::string print_bundle(const BundleOutcome& outcome, const std::string& folder);
std::string bundle_json(const BundleOutcome& outcome, const std::string& folder);

}  // namespace kiln::autotune::cli
