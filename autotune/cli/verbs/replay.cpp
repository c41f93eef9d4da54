// kiln replay
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "autotune/cli/arguments.h"
#include "autotune/cli/interrupt.h"
#include "autotune/cli/open_store.h"
#include "autotune/cli/pages/replay.h"
#include "autotune/cli/pages/rows.h"
#include "autotune/cli/pages/tried_on.h"
#include "autotune/cli/print.h"
#include "autotune/cli/progress.h"
#include "autotune/cli/verbs/verbs.h"
#include "autotune/probe.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

struct Flags {
  std::string candidate, problem, device, threads, seed;
  bool cold = false, wait = false;
};

ReplayOptions options_of(const Flags& flags, const Common& common, const db::CandidateName& name) {
  ReplayOptions options;
  options.schedule = name.schedule;
  options.problem = name.problem;
  if (!flags.device.empty()) options.device = flags.device;
  gpu_ordinal(options.device);  // another name is no device
  if (const char* folder = std::getenv("KILN_CACHE_DIR")) options.cache_folder = folder;
  if (!flags.threads.empty()) options.threads = static_cast<int>(parse_whole("--threads", flags.threads, 1, 4096));
  if (!flags.seed.empty()) options.seed = static_cast<std::uint64_t>(parse_whole("--seed", flags.seed, 0));
  options.cache = flags.cold ? Cache::cold : Cache::hot;
  options.wait = flags.wait;
  options.command = common.command;
  return options;
}

int run(const Flags& flags, const Common& common) {
  if (flags.candidate.empty()) throw UsageError("`kiln replay` needs a CANDIDATE; `kiln best` lists the best ones");
  db::Store store = open_to_write(common);
  const db::CandidateName name = one_candidate(store, flags.candidate, flags.problem);
  if (flags.device.empty()) require_tried_on_cpu(store, name);
  const ReplayOptions options = options_of(flags, common, name);
  const Interrupts interrupts;
  ReplayOutcome outcome;
  {
    const std::unique_ptr<Progress> progress = make_progress(common.quiet ? Loudness::quiet : Loudness::normal);
    outcome = replay(store, options, *progress, [&] { return interrupts.request(); });
  }
  print_result(common.json ? replay_json(outcome) : print_replay(outcome));
  if (interrupts.exit_code() != 0) return interrupts.exit_code();
  return outcome.rejection ? kNegative : kDone;
}

}  // namespace

Action declare_replay(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("CANDIDATE", flags->candidate, "of the store, by the beginning of its digest");
  app.add_option("--problem", flags->problem, "which of its problems, when it was tried on several")->option_text("P");
  app.add_option("--device", flags->device, "cpu (the default), or cuda:0 and so on: then also what a call takes by three clocks")->option_text("NAME");
  app.add_option("--threads", flags->threads, "threads of the measured kernels (default: the usable cores)")->option_text("N");
  app.add_option("--seed", flags->seed, "of the inputs and orders (default 1)")->option_text("N");
  app.add_flag("--cold", flags->cold, "measure with the arguments outside the caches");
  app.add_flag("--wait", flags->wait, "for the device, when another process measures on it");
  return [flags](const Common& common) { return run(*flags, common); };
}

}  // namespace kiln::autotune::cli
