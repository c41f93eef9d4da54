// kiln explain
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "autotune/cli/arguments.h"
#include "autotune/cli/open_store.h"
#include "autotune/cli/pages/explain.h"
#include "autotune/cli/pages/rows.h"
#include "autotune/cli/print.h"
#include "autotune/cli/read_text.h"
#include "autotune/cli/verbs/verbs.h"
#include "autotune/probe.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

struct Flags {
  std::string candidate, schedule_file, problem, threads;
  std::vector<std::string> libraries;
};

void require_one_subject(const Flags& flags) {
  if (flags.candidate.empty() == flags.schedule_file.empty())
    throw UsageError("`kiln explain` needs a CANDIDATE of the store, or --schedule FILE with --problem P");
  if (!flags.schedule_file.empty() && flags.problem.empty()) throw UsageError("--schedule needs --problem P: what is the schedule for?");
}

Schedule read_schedule(const std::string& file) {
  try {
    return parse_schedule(read_text(file));
  } catch (const ScheduleError& error) {
    throw ScheduleError(fmt::format("while reading schedule file '{}', {}", file, error.what()));
  }
}

Explanation explain(const Flags& flags, const Common& common) {
  Explanation explanation;
  explanation.device = probe().device;
  explanation.threads = flags.threads.empty() ? explanation.device.cores : static_cast<int>(parse_whole("--threads", flags.threads, 1, 4096));
  if (!flags.schedule_file.empty()) {
    Reader reader(flags.libraries, explanation.device);
    explanation.subject = read_subject(reader, flags.problem, read_schedule(flags.schedule_file));
  } else {
    db::Store store = open_to_read(common);
    const db::CandidateName name = one_candidate(store, flags.candidate, flags.problem);
    explanation.subject = stored_subject(store, name.schedule, name.problem);
    explanation.known = known_time(store, name.schedule, name.problem);
  }
  explanation.costs = costs_of(explanation.subject, explanation.device);
  explanation.build = build_once(explanation.subject, explanation.device);
  explanation.advice = advise(explanation.build, explanation.device, explanation.threads, element_bytes_of(*explanation.subject.algorithm),
                              explanation.costs.least);
  return explanation;
}

}  // namespace

Action declare_explain(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("CANDIDATE", flags->candidate, "of the store, by the beginning of its digest");
  app.add_option("--schedule", flags->schedule_file, "or a schedule from a file; needs no store")->option_text("FILE");
  app.add_option("--problem", flags->problem, "what the schedule is for, as in 'matmul(m=256, n=1024, k=1024)'")->option_text("P");
  app.add_option("--load", flags->libraries, "a shared library with generators; may be repeated")->option_text("LIB")->allow_extra_args(false);
  app.add_option("--threads", flags->threads, "threads that a call may use (default: the usable cores)")->option_text("N");
  return [flags](const Common& common) {
    require_one_subject(*flags);
    const Explanation explanation = explain(*flags, common);
    print_result(common.json ? explanation_json(explanation) : print_explanation(explanation));
    return explanation.build.rejection ? kNegative : kDone;
  };
}

}  // namespace kiln::autotune::cli
