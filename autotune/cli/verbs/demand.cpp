// kiln demand import|show
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "autotune/cli/arguments.h"
#include "autotune/cli/open_store.h"
#include "autotune/cli/pages/demand.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/print.h"
#include "autotune/cli/read_text.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"
#include "autotune/cli/verbs/verbs.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

struct Flags {
  std::vector<std::string> files;
  std::string horizon;
};

struct Imported {
  std::string file;
  db::Import result;
};

std::vector<Imported> import_all(const Flags& flags, const Common& common) {
  if (flags.files.empty()) throw UsageError("`kiln demand import` needs a FILE");
  const double horizon_s = flags.horizon.empty() ? db::kDefaultHorizon_s : parse_duration("--horizon", flags.horizon);
  std::vector<std::pair<db::Demand, Digest>> demands;
  for (const std::string& file : flags.files) {
    const std::string text = read_text(file);
    demands.emplace_back(parse_whole_demand(text, file), content_digest(text));
  }
  db::Store store(common.db);  // the first demand may come before the first tune
  auto all = store.transaction("import demand into");
  std::vector<Imported> imported;
  for (std::size_t i = 0; i < demands.size(); ++i)
    imported.push_back({flags.files[i], db::import_demand(store, demands[i].first, demands[i].second, horizon_s)});
  all.commit();
  return imported;
}

std::string print_imported(const std::vector<Imported>& imported) {
  std::string text;
  for (const auto& [file, result] : imported)
    text += result.is_new ? fmt::format("{}: {} calls of {} problems, import {}\n", file, print_count(result.calls), result.problems, result.source)
                          : fmt::format("{}: imported before as {}, nothing changed\n", file, result.source);
  return text;
}

std::string imported_json(const std::vector<Imported>& imported) {
  Json array = Json::array();
  for (const auto& [file, result] : imported)
    array.push_back({{"file", file}, {"import", result.source}, {"is_new", result.is_new}, {"problems", result.problems}, {"calls", result.calls}});
  return array.dump(2) + "\n";
}

}  // namespace

Action declare_demand_import(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("FILE", flags->files, "one `count problem` a line, as `uniq -c` prints them, or an application's dump of its calls");
  app.add_option("--horizon", flags->horizon, "what counts without a window are calls of (default 30d)")->option_text("TIME");
  return [flags](const Common& common) {
    const std::vector<Imported> imported = import_all(*flags, common);
    print_result(common.json ? imported_json(imported) : print_imported(imported));
    return kDone;
  };
}

Action declare_demand_show(CLI::App&) {
  return [](const Common& common) {
    db::Store store = open_to_read(common);
    const DemandPage page = demand_page(store);
    print_result(common.json ? demand_json(page) : print_demand(page, stdout_takes_colour()));
    return kDone;
  };
}

}  // namespace kiln::autotune::cli
