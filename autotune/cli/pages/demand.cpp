#include "autotune/cli/pages/demand.h"

#include <fmt/format.h>

#include "autotune/cli/arguments.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"
#include "db/choices.h"
#include "db/identities.h"
#include "dsl/error.h"
#include "dsl/problem.h"

namespace kiln::autotune::cli {
namespace {

std::string served_by(db::Store& store, const db::DemandTotal& total) {
  if (!total.problem) return "not read yet";
  for (const db::DeviceId device : db::devices(store)) {
    const auto choice = db::choice_in_force(store, *total.problem, device);
    if (choice && choice->serving_trial) return db::schedule(store, db::trial(store, *choice->serving_trial).schedule).digest.short_hex();
  }
  return "not tuned";
}

}  // namespace

db::Demand parse_whole_demand(const std::string& text, const std::string& name) {
  db::Demand demand = db::parse_demand(text, name);
  for (const db::DemandLine& line : demand.lines) {
    try {
      parse_problem_text(line.problem);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", name, line.line, error.what()));
    }
  }
  return demand;
}

DemandPage demand_page(db::Store& store) {
  DemandPage page;
  page.totals = db::demand_totals(store);
  for (const db::DemandTotal& total : page.totals) page.tuned.push_back(served_by(store, total));
  page.sources = db::demand_sources(store);
  return page;
}

std::string print_demand(const DemandPage& page, bool colour) {
  if (page.sources.empty()) return "no demand in this store; `kiln demand import FILE` brings some\n";
  double all = 0;
  for (const db::DemandTotal& total : page.totals) all += total.calls_per_s;
  TextTable table;
  table.column("problem").column("calls", Align::right).column("calls/s", Align::right).column("share", Align::right);
  table.column("by tuned variants", Align::right).column("candidate");
  for (std::size_t i = 0; i < page.totals.size(); ++i) {
    const db::DemandTotal& total = page.totals[i];
    table.row({total.written, print_count(total.calls), fmt::format("{:.3g}", total.calls_per_s), print_percent(all > 0 ? total.calls_per_s / all : 0),
               print_percent(total.tuned_share), page.tuned[i]});
  }
  TextTable sources;
  sources.column("import").column("application").column("at").column("window").column("problems", Align::right).column("calls", Align::right);
  sources.column("overflow", Align::right);
  for (const db::DemandSource& source : page.sources)
    sources.row({source.source, source.application, print_time(source.at),
                 source.window_start ? print_time(*source.window_start) + " to " + print_time(*source.window_end)
                                     : "none: over " + print_duration(source.horizon_s),
                 print_count(source.problems), print_count(source.calls), print_count(source.overflow)});
  return table.print(colour) + "\n" + sources.print(colour);
}

std::string demand_json(const DemandPage& page) {
  Json problems = Json::array(), sources = Json::array();
  for (std::size_t i = 0; i < page.totals.size(); ++i) {
    const db::DemandTotal& total = page.totals[i];
    problems.push_back({{"problem", total.written}, {"calls", total.calls}, {"calls_per_s", total.calls_per_s}, {"tuned_share", total.tuned_share},
                        {"candidate", page.tuned[i]}});
  }
  for (const db::DemandSource& source : page.sources)
    sources.push_back({{"import", source.source}, {"application", source.application}, {"at", source.at}, {"window_start", or_null(source.window_start)},
                       {"window_end", or_null(source.window_end)}, {"horizon_s", source.horizon_s}, {"problems", source.problems},
                       {"calls", source.calls}, {"overflow", source.overflow}});
  return Json{{"problems", problems}, {"imports", sources}}.dump(2) + "\n";
}

}  // namespace kiln::autotune::cli
