// kiln report
#include "autotune/cli/pages/report.h"

#include <CLI/CLI.hpp>

#include "autotune/cli/open_store.h"
#include "autotune/cli/print.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"

namespace kiln::autotune::cli {

Action declare_report(CLI::App& app) {
  auto since = std::make_shared<std::string>();
  app.add_option("--since", *since, "only this run and later ones (the beginning of its name will do)")->option_text("RUN");
  return [since](const Common& common) {
    db::Store store = open_to_read(common);
    const ReportPage page = report_page(store, *since);
    print_result(common.json ? report_json(page) : print_report(page, stdout_takes_colour()));
    return kDone;
  };
}

}  // namespace kiln::autotune::cli
