// kiln bundle
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "autotune/bundle/bundle.h"
#include "autotune/cli/arguments.h"
#include "autotune/cli/interrupt.h"
#include "autotune/cli/pages/bundle.h"
#include "autotune/cli/print.h"
#include "autotune/cli/progress.h"
#include "autotune/cli/read_text.h"
#include "autotune/cli/verbs/verbs.h"
#include "dsl/error.h"
#include "dsl/problem.h"

namespace kiln::autotune::cli {
namespace {

struct Flags {
  std::vector<std::string> operators, problems, demand_files, try_files, libraries;
  std::string device, folder, candidates, for_, until, jobs, seed;
  bool cold = false, hot = false;
};

// Built and installed beside this one.
std::filesystem::path measuring_program() { return std::filesystem::canonical("/proc/self/exe").parent_path() / "kiln-measure"; }

BundleOptions options_of(const Flags& flags, const Common& common) {
  if (flags.operators.empty() && flags.problems.empty() && flags.demand_files.empty())
    throw UsageError("what? name an operator, a --problem or a --demand file; `kiln list operators` shows the operators");
  if (flags.device.empty()) throw UsageError("for which GPU? --device h200; `kiln list devices` shows those that are known");
  if (flags.folder.empty()) throw UsageError("where to? -o DIR");
  if (flags.cold && flags.hot) throw UsageError("--cold and --hot exclude each other");
  for (const std::string& problem : flags.problems) parse_problem_text(problem);
  for (const std::string& file : flags.try_files) read_text(file);
  BundleOptions options;
  options.plan.operators = flags.operators;
  options.plan.problems = flags.problems;
  options.plan.demand_files = {flags.demand_files.begin(), flags.demand_files.end()};
  options.plan.try_files = {flags.try_files.begin(), flags.try_files.end()};
  options.plan.libraries = flags.libraries;
  options.plan.device = flags.device;
  options.plan.db = common.db;
  if (const char* folder = std::getenv("KILN_CACHE_DIR")) options.plan.cache_folder = folder;
  options.plan.budget_s = parse_budget(flags.for_, flags.until, std::time(nullptr)).value_or(0);
  if (!flags.jobs.empty()) options.plan.jobs = static_cast<int>(parse_whole("--jobs", flags.jobs, 1, 4096));
  if (!flags.seed.empty()) options.plan.seed = static_cast<std::uint64_t>(parse_whole("--seed", flags.seed, 0));
  options.plan.cache = flags.cold ? Cache::cold : Cache::hot;
  options.plan.command = common.command;
  if (!flags.candidates.empty()) options.candidates = static_cast<int>(parse_whole("--candidates", flags.candidates, 1, 100'000));
  options.folder = flags.folder;
  options.program = measuring_program();
  return options;
}

int run(const Flags& flags, const Common& common) {
  const BundleOptions options = options_of(flags, common);
  const Interrupts interrupts;
  BundleOutcome outcome;
  {
    const std::unique_ptr<Progress> progress = make_progress(common.quiet ? Loudness::quiet : Loudness::normal);
    outcome = bundle(options, *progress, [&] { return interrupts.request(); });
  }
  print_result(common.json ? bundle_json(outcome, options.folder.string()) : print_bundle(outcome, options.folder.string()));
  if (outcome.stopped == StopRequest::leave) print_note("interrupted; what was planned is kept. To go on:\n  " + common.command);
  if (interrupts.exit_code() != 0) return interrupts.exit_code();
  return outcome.is_written ? kDone : kNegative;
}

}  // namespace

Action declare_bundle(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("OPERATOR", flags->operators, "operators by name");
  app.add_option("--problem", flags->problems, "a problem, as in 'swiglu(m=256, n=4096, bf16)'; may be repeated")
      ->option_text("P")
      ->allow_extra_args(false);
  app.add_option("--demand", flags->demand_files, "a file of counted problems; may be repeated")->option_text("FILE")->allow_extra_args(false);
  app.add_option("--device", flags->device, "the GPU by name: h100, h200, sm_90a")->option_text("NAME");
  app.add_option("-o", flags->folder, "the folder to make")->option_text("DIR");
  app.add_option("--candidates", flags->candidates, "packed of each problem, at most (default 40)")->option_text("N");
  app.add_option("--for", flags->for_, "plan for so long at most: 90s, 10m, 1h30m")->option_text("TIME");
  app.add_option("--until", flags->until, "or until when: 07:00, local time")->option_text("CLOCK");
  app.add_option("--try", flags->try_files, "a schedule to pack before others; may be repeated")->option_text("FILE")->allow_extra_args(false);
  app.add_option("--load", flags->libraries, "a shared library with generators; may be repeated")->option_text("LIB")->allow_extra_args(false);
  app.add_option("--jobs", flags->jobs, "compile workers (default: the usable cores)")->option_text("N");
  app.add_flag("--cold", flags->cold, "to be measured with the arguments outside the caches");
  app.add_flag("--hot", flags->hot, "to be measured with the same arguments in every call (the default)");
  app.add_option("--seed", flags->seed, "of the search (default 1)")->option_text("N");
  return [flags](const Common& common) { return run(*flags, common); };
}

}  // namespace kiln::autotune::cli
