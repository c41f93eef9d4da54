// kiln measure, and the program of a bundle
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "autotune/bundle/measure.h"
#include "autotune/bundle/plan.h"
#include "autotune/cli/arguments.h"
#include "autotune/cli/interrupt.h"
#include "autotune/cli/pages/best.h"
#include "autotune/cli/print.h"
#include "autotune/cli/progress.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"
#include "autotune/probe.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

// Enough for some hundred candidates; it ends when everything is measured.
constexpr double kTime_s = 600;

struct Flags {
  std::string folder, for_, device = "cuda:0";
  bool wait = false;
};

MeasureOptions options_of(const Flags& flags, const Common& common) {
  if (flags.folder.empty()) throw UsageError("`kiln measure` needs a DIR that `kiln bundle` made");
  if (common.command.find(" --db") != std::string::npos) throw UsageError("--db: results of a bundle go to the store in its folder");
  if (!gpu_ordinal(flags.device)) throw UsageError("--device cpu: a bundle is measured on a GPU: `cuda:0` and so on");
  MeasureOptions options;
  options.folder = flags.folder;
  options.device = flags.device;
  options.budget_s = flags.for_.empty() ? kTime_s : parse_duration("--for", flags.for_);
  options.wait = flags.wait;
  if (const char* folder = std::getenv("KILN_CACHE_DIR")) options.cache_folder = folder;
  options.command = common.command;
  return options;
}

void print_outcome(const TuneOutcome& outcome, const std::string& path, const Common& common) {
  db::Store store(path, {.access = db::Access::read_only, .now = {}});
  const std::vector<BestRow> rows = best_rows(store);
  print_result(common.json ? best_json(rows) : print_best(rows, stdout_takes_colour()));
  if (outcome.contended) print_note("contended: some times were too noisy to choose by; what served before stays");
}

int run(const Flags& flags, const Common& common) {
  const MeasureOptions options = options_of(flags, common);
  const Interrupts interrupts;
  TuneOutcome outcome;
  {
    const std::unique_ptr<Progress> progress = make_progress(common.quiet ? Loudness::quiet : Loudness::normal);
    outcome = measure(options, *progress, [&] { return interrupts.request(); });
  }
  const std::string store = (options.folder / kBundleStore).string();
  print_outcome(outcome, store, common);
  if (interrupts.exit_code() != 0) {
    print_note("interrupted; everything so far is kept. To go on:\n  " + common.command);
    return interrupts.exit_code();
  }
  print_note("where the bundle was made: kiln db merge " + store);
  return outcome.problems > 0 && outcome.without_baseline == outcome.problems ? kEnvironment : kDone;
}

Action declare_measure(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("DIR", flags->folder, "what `kiln bundle` made");
  app.add_option("--for", flags->for_, "how long at most: 90s, 10m (the default), 8h; choices are made by then")->option_text("TIME");
  app.add_option("--device", flags->device, "cuda:0 (the default) and so on")->option_text("NAME");
  app.add_flag("--wait", flags->wait, "for the device, when another process measures on it");
  return [flags](const Common& common) { return run(*flags, common); };
}

}  // namespace

Verb measure_verb() {
  return {"measure", "check and measure a bundle on the GPU that it is for", "kiln measure h200-bundle --for 10m", declare_measure};
}

}  // namespace kiln::autotune::cli
