// `kiln demand`: what applications call, and which of it has been tuned.
#pragma once

#include <string>
#include <vector>

#include "db/demand.h"

namespace kiln::autotune::cli {

// A demand file whose every line is also a problem text. Throws UsageError `FILE:LINE: …` before anything is kept. `name` is what messages call it.
db::Demand parse_whole_demand(const std::string& text, const std::string& name);

struct DemandPage {
  std::vector<db::DemandTotal> totals;   // most calls a second first
  std::vector<std::string> tuned;        // of each total: the candidate in force, "not tuned", or "not read yet"
  std::vector<db::DemandSource> sources;
};

DemandPage demand_page(db::Store& store);
std::string print_demand(const DemandPage& page, bool colour);
std::string demand_json(const DemandPage& page);

}  // namespace kiln::autotune::cli
