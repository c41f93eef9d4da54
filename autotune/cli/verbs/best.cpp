// kiln best
#include "autotune/cli/pages/best.h"

#include <CLI/CLI.hpp>

#include "autotune/cli/open_store.h"
#include "autotune/cli/print.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"

namespace kiln::autotune::cli {

Action declare_best(CLI::App&) {
  return [](const Common& common) {
    db::Store store = open_to_read(common);
    const std::vector<BestRow> rows = best_rows(store);
    print_result(common.json ? best_json(rows) : print_best(rows, stdout_takes_colour()));
    return kDone;
  };
}

}  // namespace kiln::autotune::cli
