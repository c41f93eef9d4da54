#include "autotune/cli/pages/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "autotune/cli/arguments.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/pages/rows.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"
#include "autotune/search/search.h"
#include "db/builds.h"
#include "db/identities.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

// A candidate's way in the runs looked at, by its latest trial.
struct Way {
  std::string origin;
  std::optional<db::RejectionRow> rejection;
  std::string at;
  bool built = false, checked = false, timed = false, in_finals = false;
  double best_ratio = 1;  // of its measurements; 1, the baseline, when there is none
};

using Ways = std::map<db::ProblemId, std::map<db::ScheduleId, Way>>;

std::vector<db::StoredRun> runs_since(db::Store& store, const std::string& since) {
  std::vector<db::StoredRun> runs;
  std::optional<db::RunId> first;
  if (!since.empty()) {
    first = db::find_run(store, since);
    if (!first) throw UsageError(fmt::format("--since {}: no run of {} begins with that; `kiln status` lists them", since, store.path()));
  }
  std::string started = first ? db::run(store, *first).started : "";
  for (const db::RunId id : db::runs(store)) {
    db::StoredRun run = db::run(store, id);
    if (run.origin == "own" && run.started >= started) runs.push_back(std::move(run));
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

RunPart run_part(db::Store& store, db::StoredRun run) {
  RunPart part;
  part.device = db::device(store, run.row.device).model;
  part.protocol = db::protocol(store, run.row.protocol);
  part.command = option_of(run, "command");
  part.conditions = option_of(run, "conditions");
  part.noise = db::noise_floors(store, run.id);
  part.events = db::events(store, run.id);
  part.run = std::move(run);
  return part;
}

// Reasons that end a candidate before there is an object that may run.
bool is_before_build(const std::string& reason) {
  static const std::set<std::string> after = {"wrong_result", "nondeterministic", "emulator_fault", "run_error",     "run_timeout", "worker_crash",
                                              "device_lost",  "implausible",      "cut_slow",       "same_as_build"};
  return !after.contains(reason);
}

void add_trials(Ways& ways, db::Store& store, db::RunId run, double& building_s) {
  std::set<db::BuildId> builds;
  for (const db::TrialRow& trial : db::trials(store, run)) {
    if (trial.build && builds.insert(*trial.build).second) {
      const db::BuildRow build = db::build(store, *trial.build, trial.problem).row;
      building_s += (build.lower_ms + build.compile_ms) / 1e3;
    }
    if (trial.state != "done") continue;
    Way& way = ways[trial.problem][trial.schedule];
    if (way.origin.empty()) way.origin = db::schedule(store, trial.schedule).origin;
    way.rejection = trial.rejection;
    way.at = trial.ended.value_or(trial.planned);
    way.built |= trial.build && (!trial.rejection || !is_before_build(trial.rejection->reason));
    way.checked |= db::is_verified(store, trial.id);
  }
}

void add_times(Ways& ways, db::Store& store, db::RunId run) {
  for (const db::HistoryPoint& point : db::history(store, run)) {
    Way& way = ways[point.problem][point.schedule];
    if (way.origin.empty()) way.origin = point.schedule_origin;
    way.best_ratio = way.timed ? std::min(way.best_ratio, point.ratio) : point.ratio;
    way.built = way.checked = way.timed = true;
    way.in_finals |= point.stage == "final";
  }
}

Funnel funnel_of(const std::string& problem, const std::map<db::ScheduleId, Way>& ways) {
  Funnel funnel{.problem = problem, .rejected = {}, .examples = {}};
  std::map<std::string, std::string> newest;
  for (const auto& [id, way] : ways) {
    ++funnel.proposed;
    funnel.built += way.built;
    funnel.checked += way.checked;
    funnel.timed += way.timed;
    funnel.finals += way.in_finals;
    if (!way.rejection) continue;
    ++funnel.rejected[way.rejection->reason];
    if (way.at < newest[way.rejection->reason]) continue;
    newest[way.rejection->reason] = way.at;
    funnel.examples[way.rejection->reason] = way.rejection->text;
  }
  return funnel;
}

// 1, 2, 5, 10, 20, 50, … up to `last`, which always ends the row.
std::vector<int> one_two_five(int last) {
  std::vector<int> steps;
  for (int decade = 1; decade <= last; decade *= 10)
    for (const int digit : {1, 2, 5})
      if (digit * decade < last) steps.push_back(digit * decade);
  steps.push_back(last);
  return steps;
}

std::optional<RandomCurve> curve_of(const std::string& problem, const std::map<db::ScheduleId, Way>& ways) {
  std::vector<double> ratios;
  RandomCurve curve{.problem = problem, .speedups = {}, .search_speedup = {}};
  for (const auto& [id, way] : ways) {
    // A failed candidate leaves its user with the baseline.
    if (way.origin == "random") ratios.push_back(way.timed ? std::min(way.best_ratio, 1.0) : 1.0);
    if (way.timed) curve.search_speedup = std::max(curve.search_speedup.value_or(0), 1 / way.best_ratio);
  }
  if (ratios.empty()) return std::nullopt;
  curve.drawn = static_cast<int>(ratios.size());
  for (const int n : one_two_five(curve.drawn)) curve.speedups.emplace_back(n, 1 / expected_best_of(static_cast<std::size_t>(n), ratios));
  return curve;
}

std::string print_run(const RunPart& part) {
  std::string text = fmt::format("run {}  {}  {} to {}\n", part.run.row.uuid.substr(0, 8), part.run.state, print_time(part.run.started),
                                 print_time(part.run.ended.value_or(part.run.heartbeat)));
  if (!part.command.empty()) text += "  " + part.command + "\n";
  text += fmt::format("  on {}; {}\n", part.device, part.protocol);
  if (!part.conditions.empty()) text += "  conditions: " + part.conditions + "\n";
  std::string floors;
  for (const db::NoiseFloor& floor : part.noise) floors += (floors.empty() ? "" : ", ") + print_percent(floor.p95_relative);
  if (!floors.empty()) text += "  noise (the same kernel twice): " + floors + "\n";
  for (const db::EventRow& event : part.events) text += fmt::format("  {}  {}: {}\n", print_time(event.at), event.kind, event.detail);
  return text;
}

std::string print_funnels(const std::vector<Funnel>& funnels, bool colour) {
  TextTable table;
  table.column("problem").column("proposed", Align::right).column("built", Align::right).column("checked", Align::right);
  table.column("timed", Align::right).column("finals", Align::right).column("rejected");
  for (const Funnel& funnel : funnels)
    table.row({funnel.problem, std::to_string(funnel.proposed), std::to_string(funnel.built), std::to_string(funnel.checked),
               std::to_string(funnel.timed), std::to_string(funnel.finals), rejected_text(funnel.rejected)});
  std::string text = table.print(colour);
  for (const Funnel& funnel : funnels)
    for (const auto& [reason, example] : funnel.examples) {
      const std::string remark = reason == "schedule_error" ? " (a defect of the space or of a --try file)" : "";
      text += fmt::format("\n{}, {}{}, for example:\n{}", funnel.problem, reason, remark, indented(example, "  ", 4));
    }
  return text;
}

std::string print_curves(const std::vector<RandomCurve>& curves) {
  std::string text;
  for (const RandomCurve& curve : curves) {
    text += fmt::format("{}: ", curve.problem);
    for (const auto& [n, speedup] : curve.speedups) text += fmt::format("{}{}: {:.2f}x", n == 1 ? "" : ", ", n, speedup);
    if (curve.search_speedup) text += fmt::format("; the best of all: {:.2f}x", *curve.search_speedup);
    text += "\n";
  }
  return text;
}

Json run_json(const RunPart& part) {
  Json noise = Json::array(), events = Json::array();
  for (const db::NoiseFloor& floor : part.noise) noise.push_back({{"at", floor.at}, {"p95_relative", floor.p95_relative}});
  for (const db::EventRow& event : part.events) events.push_back({{"at", event.at}, {"kind", event.kind}, {"detail", event.detail}});
  return {{"run", part.run.row.uuid}, {"state", part.run.state}, {"started", part.run.started}, {"ended", or_null(part.run.ended)},
          {"command", part.command}, {"device", part.device}, {"protocol", part.protocol}, {"conditions", part.conditions}, {"noise", noise},
          {"events", events}};
}

}  // namespace

ReportPage report_page(db::Store& store, const std::string& since) {
  ReportPage page;
  Ways ways;
  for (db::StoredRun& run : runs_since(store, since)) {
    page.wall_s += db::seconds_since_epoch(run.ended.value_or(run.heartbeat)) - db::seconds_since_epoch(run.started);
    add_trials(ways, store, run.id, page.building_s);
    add_times(ways, store, run.id);
    page.runs.push_back(run_part(store, std::move(run)));
  }
  for (const auto& [problem, of_problem] : ways) {
    const std::string text = db::problem(store, problem).text;
    page.funnels.push_back(funnel_of(text, of_problem));
    if (const auto curve = curve_of(text, of_problem)) page.curves.push_back(*curve);
  }
  page.best = best_rows(store);
  std::erase_if(page.best, [&](const BestRow& row) { return !ways.contains(row.key.problem); });
  return page;
}

std::string print_report(const ReportPage& page, bool colour) {
  if (page.runs.empty()) return "no run in this store yet\n";
  std::string text = "Results\n\n" + print_best(page.best, colour) + "\nRuns\n\n";
  for (const RunPart& run : page.runs) text += print_run(run);
  text += fmt::format("in all {} of running, {} of building (summed over workers)\n", print_ns(1e9 * page.wall_s), print_ns(1e9 * page.building_s));
  if (!page.funnels.empty()) text += "\nHow far candidates came\n\n" + print_funnels(page.funnels, colour);
  if (!page.curves.empty()) text += "\nWhat random search alone is expected to find after n candidates\n\n" + print_curves(page.curves);
  return text;
}

std::string report_json(const ReportPage& page) {
  Json runs = Json::array(), funnels = Json::array(), curves = Json::array();
  for (const RunPart& run : page.runs) runs.push_back(run_json(run));
  for (const Funnel& funnel : page.funnels)
    funnels.push_back({{"problem", funnel.problem}, {"proposed", funnel.proposed}, {"built", funnel.built}, {"checked", funnel.checked},
                       {"timed", funnel.timed}, {"finals", funnel.finals}, {"rejected", funnel.rejected}, {"examples", funnel.examples}});
  for (const RandomCurve& curve : page.curves) {
    Json points = Json::array();
    for (const auto& [n, speedup] : curve.speedups) points.push_back({{"candidates", n}, {"expected_speedup", speedup}});
    curves.push_back({{"problem", curve.problem}, {"drawn", curve.drawn}, {"points", points},
                      {"search_speedup", or_null(curve.search_speedup)}});
  }
  return Json{{"best", Json::parse(best_json(page.best))}, {"runs", runs}, {"wall_s", page.wall_s}, {"building_s", page.building_s}, {"funnels", funnels},
              {"random_search", curves}}
             .dump(2) +
         "\n";
}

}  // namespace kiln::autotune::cli
