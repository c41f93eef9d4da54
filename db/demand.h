// Demand: how often an application calls which problem. The text form, and the counts in the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.h"

namespace kiln::db {

struct DemandLine {
  std::int64_t calls = 0;
  std::string problem;       // as written, without outer white space
  std::string tier = "exact";  // exact · bucket · generic: which variant served the calls
  int line = 0;              // 1-based; 0 when it did not come from a file
  bool operator==(const DemandLine&) const = default;
};

// One file: counts as `uniq -c` prints them under header comments. `# tier exact|bucket|generic` holds for the lines after it.
struct Demand {
  std::string application = "default";                    // # application NAME
  std::optional<std::string> window_start, window_end;    // # window START END
  std::int64_t overflow = 0;                              // # overflow N: calls beyond the counter's table
  std::vector<DemandLine> lines;                          // equal problems are kept apart; import adds them
};

// Throws UsageError `FILE:LINE: …` with what was expected and found. `name` is what messages call the text. Problems are not resolved here.
Demand parse_demand(std::string_view text, const std::string& name);
std::string print(const Demand& demand);  // parses back to the same value but for line numbers

inline constexpr double kDefaultHorizon_s = 30 * 86400.0;

struct Import {
  std::string source;        // 12 hex digits of the text's digest
  bool is_new = false;       // false: this text was imported before, nothing changed
  std::size_t problems = 0;
  std::int64_t calls = 0;
};
// Without a window the counts are calls over `horizon_s`. Importing the same text twice changes nothing.
Import import_demand(Store& store, const Demand& demand, const Digest& source, double horizon_s = kDefaultHorizon_s);
void remove_demand(Store& store, const std::string& source);  // UsageError when there is no such import

// Counts are kept by the problem's text as written until someone who knows the operator links that text to a problem.
std::vector<std::string> unlinked_demand(Store& store, const std::string& operator_name = "");
void link_demand(Store& store, const std::string& written, ProblemId problem);

struct DemandTotal {
  std::optional<ProblemId> problem;  // absent: not linked yet
  std::string written;               // the text of the first line that named it
  std::int64_t calls = 0;            // over all imports
  double calls_per_s = 0;            // an application's calls over the time its imports cover, summed over applications
  double tuned_share = 0;            // of calls, served by exact or bucket variants
};
std::vector<DemandTotal> demand_totals(Store& store);      // most calls a second first
std::optional<DemandTotal> demand_of(Store& store, ProblemId problem);

struct DemandSource {
  std::string source, application, at;
  std::optional<std::string> window_start, window_end;
  double horizon_s = 0;
  std::int64_t problems = 0, calls = 0, overflow = 0;
};
std::vector<DemandSource> demand_sources(Store& store);    // oldest first

}  // namespace kiln::db
