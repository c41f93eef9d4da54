#include "autotune/cli/pages/clocks.h"

#include <fmt/format.h>

#include <cmath>

#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"

namespace kiln::autotune::cli {
namespace {

const char* name(Submission submission) { return submission == Submission::graph ? "graph" : "plain"; }
const char* name(Cache cache) { return cache == Cache::hot ? "hot" : "cold"; }

std::string cell(double ns) { return std::isfinite(ns) ? print_ns(ns) : "-"; }

void add_rows(TextTable& table, const std::string& whose, const ClocksOutcome& outcome) {
  for (const Clocks& clocks : outcome.clocks) {
    std::vector<std::string> cells = {whose, std::to_string(clocks.kernels), name(clocks.submission), name(clocks.cache)};
    for (const Spread& spread : {clocks.device, clocks.submit, clocks.completion}) cells.insert(cells.end(), {cell(spread.median_ns), cell(spread.iqr_ns)});
    cells.push_back(std::isfinite(clocks.sm_mhz) ? fmt::format("{:.0f} MHz", clocks.sm_mhz) : "-");
    table.row(std::move(cells));
  }
}

std::string why_there_are_none(const std::string& whose, const ClocksOutcome& outcome) {
  if (outcome.rejection) return fmt::format("no clocks of the {}: {}: {}\n", whose, print(outcome.rejection->reason), outcome.rejection->text);
  return outcome.absent.empty() ? "" : fmt::format("no clocks of the {}: {}\n", whose, outcome.absent);
}

Json spread_json(const Spread& spread) {
  const auto value = [](double ns) { return std::isfinite(ns) ? Json(ns) : Json(nullptr); };
  return {{"median_ns", value(spread.median_ns)}, {"iqr_ns", value(spread.iqr_ns)}};
}

}  // namespace

std::string print_clocks(const ClocksOutcome& candidate, const std::optional<ClocksOutcome>& baseline) {
  TextTable table;
  table.column("a call of").column("kernels", Align::right).column("as").column("cache");
  for (const char* clock : {"device", "submit", "completion"}) table.column(clock, Align::right).column("IQR", Align::right);
  table.column("SM clock", Align::right);
  add_rows(table, "candidate", candidate);
  if (baseline) add_rows(table, "baseline", *baseline);
  std::string text = table.is_empty() ? "" : table.print();
  text += why_there_are_none("candidate", candidate);
  if (baseline) text += why_there_are_none("baseline", *baseline);
  return text;
}

Json clocks_json(const ClocksOutcome& outcome) {
  Json list = Json::array();
  for (const Clocks& clocks : outcome.clocks)
    list.push_back({{"as", name(clocks.submission)},
                    {"cache", name(clocks.cache)},
                    {"kernels", clocks.kernels},
                    {"calls_together", clocks.calls_together},
                    {"device", spread_json(clocks.device)},
                    {"submit", spread_json(clocks.submit)},
                    {"completion", spread_json(clocks.completion)},
                    {"sm_mhz", std::isfinite(clocks.sm_mhz) ? Json(clocks.sm_mhz) : Json(nullptr)}});
  return {{"taken", list}, {"absent", outcome.rejection ? Json(outcome.rejection->text) : outcome.absent.empty() ? Json(nullptr) : Json(outcome.absent)}};
}

}  // namespace kiln::autotune::cli
