// `kiln best`: per problem the baseline, the best, and what the difference is worth; as values, as a table, as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/status.h"

namespace kiln::autotune::cli {

// What the best is compared with the baseline.
enum class Worth : std::uint8_t {
  faster,      // the interval of the speedup lies above 1 and above the noise
  tie,         // cannot be told apart from the baseline, or the baseline is kept because the best of the others cannot
  slower,      // pinned by hand against the numbers
  baseline,    // nothing better was found: the best is the baseline
  contended,   // no clean final race: the baseline stays, whatever was seen
  unmeasured,  // no race at all
};

struct BestRow {
  db::ResultKey key;
  std::string operator_name, problem, device;
  std::int64_t calls = 0;                 // of the demand; 0: not asked for
  std::string baseline;                   // by name: "own schedule", "Mullapudi2016", "unscheduled"; empty: none could be run
  std::string baseline_note;              // why a baseline that a user would expect before it is not it; empty: it is the first
  std::optional<double> baseline_ns, best_ns;  // baseline_ns: of the races in which the best was timed
  Worth worth = Worth::unmeasured;
  std::optional<double> speedup, speedup_low, speedup_high;  // baseline's time / best's; against itself all 1
  std::string candidate, schedule;        // 12 digits of its digest, and its text
  int tried = 0;
  std::map<std::string, int> rejected;    // reason -> candidates
};

// One row a problem and device with results, demand first, then by operator. The best is the verdict's choice, never a bare minimum.
std::vector<BestRow> best_rows(db::Store& store);

// What all calls of the demand cost together, over the rows that have calls and both times.
struct DemandCost {
  std::int64_t calls = 0;
  double before_ns = 0, after_ns = 0;
  double after_low_ns = 0, after_high_ns = 0;  // every row at the ends of its interval
};
std::optional<DemandCost> demand_cost(const std::vector<BestRow>& rows);

std::string print_best(const std::vector<BestRow>& rows, bool colour);
std::string best_json(const std::vector<BestRow>& rows);  // an array
// The best of each row as the C++ body of a schedule(), under a comment that says for what and how much faster.
std::string best_halide(db::Store& store, const std::vector<BestRow>& rows);

// The words of a baseline's schedule, from where it came and its text.
std::string baseline_name(const std::string& origin, const std::string& schedule_text);

// "1.43x (1.41–1.45)", "tie (0.99–1.02)", "tie, baseline stays", "baseline is best", "contended", …
std::string worth_text(const BestRow& row);

// "7 wrong_result, 2 spills"; "none" when there are none. Most first.
std::string rejected_text(const std::map<std::string, int>& rejected);

}  // namespace kiln::autotune::cli
