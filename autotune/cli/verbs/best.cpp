// kiln best
#include "autotune/cli/pages/best.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "autotune/cli/open_store.h"
#include "autotune/cli/print.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {

Action declare_best(CLI::App& app) {
  auto halide = std::make_shared<bool>(false);
  app.add_flag("--halide", *halide, "print each best schedule as the C++ body of a generator's schedule()");
  return [halide](const Common& common) {
    if (*halide && common.json) throw UsageError("--halide prints C++ and --json one document: ask for one of them (the document holds the schedules)");
    db::Store store = open_to_read(common);
    const std::vector<BestRow> rows = best_rows(store);
    print_result(*halide ? best_halide(store, rows) : common.json ? best_json(rows) : print_best(rows, stdout_takes_colour()));
    return kDone;
  };
}

}  // namespace kiln::autotune::cli
