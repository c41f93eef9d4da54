// kiln tune
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "autotune/cli/arguments.h"
#include "autotune/cli/interrupt.h"
#include "autotune/cli/open_store.h"
#include "autotune/cli/pages/best.h"
#include "autotune/cli/pages/demand.h"
#include "autotune/cli/print.h"
#include "autotune/cli/progress.h"
#include "autotune/cli/read_text.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"
#include "autotune/probe.h"
#include "autotune/session.h"
#include "dsl/error.h"
#include "dsl/problem.h"

namespace kiln::autotune::cli {
namespace {

struct Flags {
  std::vector<std::string> operators, problems, demand_files, try_files, libraries;
  std::string for_, until, candidates, device, threads, jobs, seed, shard, horizon;
  bool cold = false, hot = false, wait = false;
};

double budget(const Flags& flags) {
  if (const std::optional<double> seconds = parse_budget(flags.for_, flags.until, std::time(nullptr))) return *seconds;
  throw UsageError("how long? --for 8h, or --until 07:00");
}

// Without a name on the command line the store's demand is followed, when it holds some.
void require_something(const Flags& flags, const Common& common) {
  if (!flags.operators.empty() || !flags.problems.empty() || !flags.demand_files.empty()) return;
  if (std::filesystem::exists(common.db)) {
    db::Store store = open_to_read(common);
    if (!db::demand_totals(store).empty()) return;
  }
  throw UsageError("what? name an operator, a --problem or a --demand file; `kiln list operators` shows the operators");
}

// Mistakes in what the user wrote end the command before anything is started.
void require_readable(const Flags& flags) {
  for (const std::string& problem : flags.problems) parse_problem_text(problem);
  for (const std::string& file : flags.demand_files) parse_whole_demand(read_text(file), file);
  for (const std::string& file : flags.try_files) read_text(file);
}

TuneOptions options_of(const Flags& flags, const Common& common) {
  require_something(flags, common);
  if (flags.cold && flags.hot) throw UsageError("--cold and --hot exclude each other");
  TuneOptions options;
  options.operators = flags.operators;
  options.problems = flags.problems;
  options.demand_files = {flags.demand_files.begin(), flags.demand_files.end()};
  options.try_files = {flags.try_files.begin(), flags.try_files.end()};
  options.libraries = flags.libraries;
  options.budget_s = budget(flags);
  options.db = common.db;
  if (const char* folder = std::getenv("KILN_CACHE_DIR")) options.cache_folder = folder;
  if (!flags.threads.empty()) options.threads = static_cast<int>(parse_whole("--threads", flags.threads, 1, 4096));
  if (!flags.jobs.empty()) options.jobs = static_cast<int>(parse_whole("--jobs", flags.jobs, 1, 4096));
  if (!flags.device.empty()) options.device = flags.device;
  gpu_ordinal(options.device);  // another name is no device
  options.cache = flags.cold ? Cache::cold : Cache::hot;
  if (!flags.candidates.empty()) options.most_candidates = static_cast<int>(parse_whole("--candidates", flags.candidates, 2, 1'000'000));
  if (!flags.seed.empty()) options.seed = static_cast<std::uint64_t>(parse_whole("--seed", flags.seed, 0));
  if (!flags.shard.empty()) options.shard = parse_shard("--shard", flags.shard);
  options.wait = flags.wait;
  if (!flags.horizon.empty()) options.horizon_s = parse_duration("--horizon", flags.horizon);
  options.command = common.command;
  require_readable(flags);
  return options;
}

void print_outcome(const TuneOutcome& outcome, const Common& common) {
  db::Store store = open_to_read(common);
  const std::vector<BestRow> rows = best_rows(store);
  print_result(common.json ? best_json(rows) : print_best(rows, stdout_takes_colour()));
  if (outcome.contended) print_note("contended: some times were too noisy to choose by; what served before stays");
}

int run(const Flags& flags, const Common& common) {
  const TuneOptions options = options_of(flags, common);
  const Interrupts interrupts;
  TuneOutcome outcome;
  {
    const std::unique_ptr<Progress> progress = make_progress(common.quiet ? Loudness::quiet : Loudness::normal);
    outcome = tune(options, *progress, [&] { return interrupts.request(); });
  }
  print_outcome(outcome, common);
  if (interrupts.exit_code() != 0) {
    print_note("interrupted; everything so far is kept. To go on:\n  " + common.command);
    return interrupts.exit_code();
  }
  return outcome.problems > 0 && outcome.without_baseline == outcome.problems ? kEnvironment : kDone;
}

}  // namespace

Action declare_tune(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("OPERATOR", flags->operators, "operators by name; none: those of the demand");
  app.add_option("--problem", flags->problems, "a problem, as in 'matmul(m=256, n=1024, k=1024)'; may be repeated")
      ->option_text("P")
      ->allow_extra_args(false);
  app.add_option("--demand", flags->demand_files, "a file of counted problems; may be repeated")->option_text("FILE")->allow_extra_args(false);
  app.add_option("--for", flags->for_, "how long: 90s, 10m, 8h, 1h30m; choices are made by then")->option_text("TIME");
  app.add_option("--until", flags->until, "or until when: 07:00, local time")->option_text("CLOCK");
  app.add_option("--candidates", flags->candidates, "end a problem's search when so many were tried (default: as time allows)")->option_text("N");
  app.add_option("--load", flags->libraries, "a shared library with generators; may be repeated")->option_text("LIB")->allow_extra_args(false);
  app.add_option("--device", flags->device, "cpu (the default), or cuda:0 and so on")->option_text("NAME");
  app.add_option("--try", flags->try_files, "a schedule to start from; may be repeated")->option_text("FILE")->allow_extra_args(false);
  app.add_option("--threads", flags->threads, "threads of the measured kernels (default: the usable cores)")->option_text("N");
  app.add_option("--jobs", flags->jobs, "compile workers (default: the usable cores)")->option_text("N");
  app.add_flag("--cold", flags->cold, "measure with the arguments outside the caches");
  app.add_flag("--hot", flags->hot, "measure with the same arguments in every call (the default)");
  app.add_option("--seed", flags->seed, "of the search: same seed and same outcomes, same proposals (default 1)")->option_text("N");
  app.add_option("--shard", flags->shard, "this run takes part I of N of the problems")->option_text("I/N");
  app.add_flag("--wait", flags->wait, "for the device, when another process measures on it");
  app.add_option("--horizon", flags->horizon, "what counts without a window are calls of (default 30d)")->option_text("TIME");
  return [flags](const Common& common) { return run(*flags, common); };
}

}  // namespace kiln::autotune::cli
