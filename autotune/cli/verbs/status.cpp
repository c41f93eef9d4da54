// kiln status
#include "autotune/cli/pages/status.h"

#include <CLI/CLI.hpp>

#include "autotune/cli/open_store.h"
#include "autotune/cli/print.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"

namespace kiln::autotune::cli {

Action declare_status(CLI::App&) {
  return [](const Common& common) {
    db::Store store = open_to_read(common);
    const StatusPage page = status_page(store);
    print_result(common.json ? status_json(page) : print_status(page, stdout_takes_colour()));
    return kDone;
  };
}

}  // namespace kiln::autotune::cli
