#include "autotune/cli/pages/status.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/cli/arguments.h"
#include "autotune/cli/pages/best.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/pages/rows.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"
#include "db/identities.h"

namespace kiln::autotune::cli {
namespace {

constexpr std::size_t kMostFailures = 12;
constexpr std::size_t kMostLines = 8;  // of one failure's text; `explain` prints all of it

// Not what a user would call a failure: the candidate is right, only not needed.
bool is_failure(const db::RejectionRow& rejection) { return rejection.reason != "cut_slow" && rejection.reason != "same_as_build"; }

// Events that say what a run could not do. Whatever comes later, they stay in sight.
bool is_fault(const db::EventRow& event) {
  return event.kind == "failed" || event.kind == "untunable" || event.kind == "no_baseline" || event.kind == "no_generic";
}

RunLine run_line(db::Store& store, db::RunId id, const std::function<db::Liveness(const db::Process&)>& is_alive) {
  const db::StoredRun run = db::run(store, id);
  RunLine line;
  line.run = run.row.uuid;
  line.state = run.state;
  line.is_gone = run.state == "running" && is_alive(run.row.process) == db::Liveness::dead;
  line.started = run.started;
  line.heartbeat = run.heartbeat;
  line.ended = run.ended;
  line.budget_s = run.row.budget_s;
  line.command = option_of(run, "command");
  if (const auto floors = db::noise_floors(store, id); !floors.empty()) line.noise = floors.back().p95_relative;
  for (const db::EventRow& event : db::events(store, id)) {
    const std::string text = event.kind + ": " + event.detail;
    if (is_fault(event)) line.faults.push_back(text);
    line.last_event = is_fault(event) ? "" : text;
  }
  return line;
}

void add_failures(std::map<std::pair<std::string, std::string>, Failure>& failures, db::Store& store, db::RunId run) {
  for (const db::TrialRow& trial : db::trials(store, run)) {
    if (!trial.rejection || !is_failure(*trial.rejection)) continue;
    const std::string problem = db::problem(store, trial.problem).text;
    Failure& failure = failures[{problem, trial.rejection->reason}];
    const int count = failure.text.empty() && failure.at.empty() ? 1 : failure.count + 1;
    const std::string at = trial.ended.value_or(trial.planned);
    if (at >= failure.at) failure = {at, problem, trial.rejection->reason, trial.rejection->text, db::schedule(store, trial.schedule).digest.short_hex(), 1};
    failure.count = count;
  }
}

std::string print_run(const RunLine& run) {
  std::string text = fmt::format("run {}  {}  started {}", run.run.substr(0, 8), run.is_gone ? "running, but its process is gone" : run.state,
                                 print_time(run.started));
  if (run.ended) text += ", ended " + print_time(*run.ended);
  else text += ", last seen " + print_time(run.heartbeat);
  if (run.budget_s) text += ", budget " + print_duration(*run.budget_s);
  if (run.noise) text += ", noise " + print_percent(*run.noise);
  text += "\n";
  if (!run.command.empty()) text += "  " + run.command + "\n";
  for (const std::string& fault : run.faults) text += indented(fault, "  ", kMostLines);
  if (!run.last_event.empty()) text += "  last event: " + run.last_event + "\n";
  return text;
}

// What is going on with a problem, from the trials in flight and the races that were held.
std::string phase_of(const db::ProblemStatus& problem) {
  if (problem.running > 0) return fmt::format("{} in flight", problem.running);
  if (problem.has_clean_final) return "decided";
  return problem.tried == 0 ? "not begun" : "no clean final yet";
}

std::string print_problems(const std::vector<db::ProblemStatus>& problems, bool colour) {
  TextTable table;
  table.column("problem").column("phase").column("tried", Align::right).column("ok", Align::right).column("suspect", Align::right);
  table.column("best so far", Align::right).column("rejected");
  for (const db::ProblemStatus& problem : problems)
    table.row({problem.problem, phase_of(problem), std::to_string(problem.tried), std::to_string(problem.ok), std::to_string(problem.suspects),
               problem.best_ratio ? fmt::format("{:.2f}x", 1 / *problem.best_ratio) : "-", rejected_text(problem.rejected)});
  return table.print(colour);
}

std::string print_failures(const std::vector<Failure>& failures) {
  std::string text;
  for (std::size_t i = 0; i < std::min(failures.size(), kMostFailures); ++i) {
    const Failure& failure = failures[i];
    text += fmt::format("{}  {} of {} ({}x), the newest in candidate {}:\n", print_time(failure.at), failure.reason, failure.problem, failure.count,
                        failure.candidate);
    text += indented(failure.text, "    ", kMostLines);
  }
  if (failures.size() > kMostFailures) text += fmt::format("… {} more kinds of failure\n", failures.size() - kMostFailures);
  return text;
}

}  // namespace

StatusPage status_page(db::Store& store, std::size_t most_runs, const std::function<db::Liveness(const db::Process&)>& is_alive) {
  StatusPage page;
  std::map<std::pair<std::string, std::string>, Failure> failures;
  std::vector<db::RunId> runs = db::runs(store);
  if (runs.size() > most_runs) runs.resize(most_runs);
  for (const db::RunId run : runs) {
    page.runs.push_back(run_line(store, run, is_alive));
    add_failures(failures, store, run);
  }
  page.problems = db::problem_status(store);
  for (const auto& [key, failure] : failures) page.failures.push_back(failure);
  std::stable_sort(page.failures.begin(), page.failures.end(), [](const Failure& a, const Failure& b) { return a.at > b.at; });
  return page;
}

std::string print_status(const StatusPage& page, bool colour) {
  if (page.runs.empty()) return "no run in this store yet\n";
  std::string text;
  for (const RunLine& run : page.runs) text += print_run(run);
  text += "\n" + print_problems(page.problems, colour);
  if (!page.failures.empty()) text += "\nfailures, newest first:\n" + print_failures(page.failures);
  return text;
}

std::string status_json(const StatusPage& page) {
  Json runs = Json::array(), problems = Json::array(), failures = Json::array();
  for (const RunLine& run : page.runs)
    runs.push_back({{"run", run.run}, {"state", run.state}, {"process_gone", run.is_gone}, {"started", run.started}, {"heartbeat", run.heartbeat},
                    {"ended", or_null(run.ended)}, {"budget_s", or_null(run.budget_s)}, {"command", run.command}, {"noise", or_null(run.noise)},
                    {"faults", run.faults}, {"last_event", run.last_event}});
  for (const db::ProblemStatus& problem : page.problems)
    problems.push_back({{"operator", problem.operator_name}, {"problem", problem.problem}, {"phase", phase_of(problem)}, {"tried", problem.tried},
                        {"ok", problem.ok}, {"rejected", problem.rejected}, {"suspects", problem.suspects}, {"in_flight", problem.running},
                        {"best_ratio", or_null(problem.best_ratio)}, {"decided", problem.has_clean_final}});
  for (const Failure& failure : page.failures)
    failures.push_back({{"at", failure.at}, {"problem", failure.problem}, {"reason", failure.reason}, {"count", failure.count},
                        {"candidate", failure.candidate}, {"text", failure.text}});
  return Json{{"runs", runs}, {"problems", problems}, {"failures", failures}}.dump(2) + "\n";
}

}  // namespace kiln::autotune::cli
