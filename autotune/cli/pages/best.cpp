#include "autotune/cli/pages/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "autotune/cli/pages/json.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"
#include "db/demand.h"
#include "db/identities.h"
#include "db/races.h"
#include "dsl/algorithm.h"
#include "dsl/print_halide.h"
#include "dsl/schedule.h"

namespace kiln::autotune::cli {
namespace {

using ProblemOnDevice = std::pair<db::ProblemId, db::DeviceId>;

// The baselines in the order in which a user would take them.
constexpr const char* kBaselineOrigins[] = {"own", "autoscheduler", "unscheduled"};

// "own schedule: run_error: …" for every baseline before the one that was taken which was tried and rejected.
std::string note_on_baseline(db::Store& store, const db::ResultKey& key, const std::string& taken) {
  std::string note;
  for (const db::KnownOutcome& known : db::known_outcomes(store, key)) {
    if (!known.rejection) continue;
    const db::ScheduleRow schedule = db::schedule(store, known.schedule);
    const auto* place = std::find(std::begin(kBaselineOrigins), std::end(kBaselineOrigins), schedule.origin);
    const auto* taken_place = std::find(std::begin(kBaselineOrigins), std::end(kBaselineOrigins), taken);
    if (place == std::end(kBaselineOrigins) || place >= taken_place) continue;
    if (!note.empty()) note += "; ";
    note += fmt::format("{} could not be it: {}: {}", baseline_name(schedule.origin, schedule.text), known.rejection->reason, known.rejection->text);
  }
  return note;
}

void set_best(BestRow& row, const db::ContenderRow& best, db::Store& store) {
  const db::ScheduleRow schedule = db::schedule(store, best.schedule);
  row.candidate = schedule.digest.short_hex();
  row.schedule = schedule.text;
}

void set_baseline_as_best(BestRow& row, const db::ScheduleRow& schedule, Worth worth) {
  row.worth = worth;
  row.best_ns = row.baseline_ns;
  row.speedup = row.speedup_low = row.speedup_high = 1;
  row.candidate = schedule.digest.short_hex();
  row.schedule = schedule.text;
}

Worth worth_of(const db::StoredVerdict& stored, const db::Interval95& against_baseline) {
  if (stored.verdict.is_tie_with_baseline) return Worth::tie;
  if (against_baseline.hi < 1) return Worth::faster;
  return against_baseline.lo > 1 ? Worth::slower : Worth::tie;
}

// Whether some other candidate cannot be told apart from the baseline that was kept.
bool equals_baseline(const db::StoredVerdict& stored) {
  return std::any_of(stored.verdict.order.begin(), stored.verdict.order.end(), [&](const db::Placed& placed) {
    const bool was_compared = placed.standing == db::Standing::tied || placed.standing == db::Standing::not_faster;
    return was_compared && !stored.contenders[placed.contender].contender.is_baseline && placed.against_baseline && placed.against_baseline->lo <= 1;
  });
}

// No clean final: what the latest race said of the baseline, which stays.
void read_latest_race(BestRow& row, db::Store& store) {
  const std::vector<db::StoredRace> races = db::races(store, row.key.problem, row.key.device, row.key.protocol);
  if (races.empty()) return;
  const db::StoredRace& latest = races.back();
  const db::ScheduleRow baseline = db::schedule(store, db::trial(store, latest.row.baseline).schedule);
  for (const db::MeasurementRow& measured : db::measurements(store, latest.id))
    if (measured.trial == latest.row.baseline) row.baseline_ns = measured.value_ns;
  row.baseline = baseline_name(baseline.origin, baseline.text);
  row.baseline_note = note_on_baseline(store, row.key, baseline.origin);
  set_baseline_as_best(row, baseline, Worth::contended);
}

void read_verdict(BestRow& row, db::Store& store) {
  const db::StoredVerdict stored = db::verdict(store, row.key);
  if (!stored.baseline || !stored.chosen) return read_latest_race(row, store);
  const auto placed_of = [&](const db::ContenderRow& wanted) {
    return *std::find_if(stored.verdict.order.begin(), stored.verdict.order.end(),
                         [&](const db::Placed& placed) { return stored.contenders[placed.contender].schedule == wanted.schedule; });
  };
  row.baseline = baseline_name(stored.baseline->schedule_origin, db::schedule(store, stored.baseline->schedule).text);
  row.baseline_note = note_on_baseline(store, row.key, stored.baseline->schedule_origin);
  row.baseline_ns = placed_of(*stored.baseline).median_value_ns;
  if (stored.chosen->schedule == stored.baseline->schedule)
    return set_baseline_as_best(row, db::schedule(store, stored.baseline->schedule), equals_baseline(stored) ? Worth::tie : Worth::baseline);
  const db::Placed best = placed_of(*stored.chosen);
  if (!best.against_baseline) return read_latest_race(row, store);
  row.worth = worth_of(stored, *best.against_baseline);
  // The candidate's own races, whose ratio this is: its times and the baseline's of other hours do not divide to it.
  row.best_ns = best.median_value_ns;
  row.baseline_ns = best.median_value_ns / best.against_baseline->ratio;
  row.speedup = 1 / best.against_baseline->ratio;
  row.speedup_low = 1 / best.against_baseline->hi;
  row.speedup_high = 1 / best.against_baseline->lo;
  set_best(row, *stored.chosen, store);
}

BestRow empty_row(db::Store& store, const db::ResultKey& key, const std::vector<db::ProblemStatus>& status) {
  BestRow row;
  row.key = key;
  const db::ProblemRow problem = db::problem(store, key.problem);
  row.operator_name = problem.operator_name;
  row.problem = problem.text;
  row.device = db::device(store, key.device).model;
  if (const auto demand = db::demand_of(store, key.problem)) row.calls = demand->calls;
  for (const db::ProblemStatus& one : status) {
    const bool is_this = one.key.problem == key.problem && one.key.device == key.device && one.key.toolchain == key.toolchain &&
                         one.key.protocol == key.protocol;
    if (!is_this) continue;
    row.tried = one.tried;
    row.rejected = one.rejected;
  }
  return row;
}

std::string time_or_dash(const std::optional<double>& ns) { return ns ? print_ns(*ns) : "-"; }

std::vector<std::string> cells_of(const BestRow& row) {
  return {row.problem,
          row.calls == 0 ? "-" : print_count(row.calls),
          row.baseline.empty() ? "none" : row.baseline,
          time_or_dash(row.baseline_ns),
          time_or_dash(row.best_ns),
          worth_text(row),
          row.candidate.empty() ? "-" : row.candidate,
          std::to_string(row.tried),
          rejected_text(row.rejected)};
}

std::string print_cost(const DemandCost& cost) {
  return fmt::format("demand of {} calls: {} before, {} after: {}\n", print_count(cost.calls), print_ns(cost.before_ns), print_ns(cost.after_ns),
                     print_speedup(cost.before_ns / cost.after_ns, cost.before_ns / cost.after_high_ns, cost.before_ns / cost.after_low_ns));
}

std::string notes_below(const std::vector<BestRow>& rows) {
  std::string text;
  for (const BestRow& row : rows) {
    if (!row.baseline_note.empty()) text += fmt::format("{}: {}\n", row.problem, row.baseline_note);
    if (row.worth == Worth::contended)
      text += fmt::format("{}: contended: no clean final race, so the baseline stays; tune again on a quieter machine\n", row.problem);
    if (row.worth == Worth::slower) text += fmt::format("{}: pinned by hand, although the baseline is faster\n", row.problem);
  }
  return text;
}

}  // namespace

std::string baseline_name(const std::string& origin, const std::string& schedule_text) {
  if (origin == "own") return "own schedule";
  if (origin == "unscheduled" || schedule_text.empty()) return "unscheduled";
  if (origin != "autoscheduler") return origin + " schedule";
  const std::size_t open = schedule_text.find('('), end = schedule_text.find_first_of(",)", open);
  return open == std::string::npos || end == std::string::npos ? "autoscheduler" : schedule_text.substr(open + 1, end - open - 1);
}

std::vector<BestRow> best_rows(db::Store& store) {
  const std::vector<db::ProblemStatus> status = db::problem_status(store);
  std::vector<BestRow> rows;
  std::set<ProblemOnDevice> seen;
  for (const db::ResultKey& key : db::result_keys(store)) {
    rows.push_back(empty_row(store, key, status));
    read_verdict(rows.back(), store);
    seen.insert({key.problem, key.device});
  }
  // Touched, but without a final race yet.
  for (const db::ProblemStatus& one : status) {
    if (!seen.insert({one.key.problem, one.key.device}).second) continue;
    rows.push_back(empty_row(store, one.key, status));
    read_latest_race(rows.back(), store);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const BestRow& a, const BestRow& b) {
    return std::tuple(a.calls == 0, a.operator_name, a.key.problem) < std::tuple(b.calls == 0, b.operator_name, b.key.problem);
  });
  return rows;
}

std::optional<DemandCost> demand_cost(const std::vector<BestRow>& rows) {
  DemandCost cost;
  for (const BestRow& row : rows) {
    if (row.calls == 0 || !row.baseline_ns || !row.best_ns || !row.speedup_low) continue;
    const auto calls = static_cast<double>(row.calls);
    cost.calls += row.calls;
    cost.before_ns += calls * *row.baseline_ns;
    // Times of different races are never compared: what a problem costs after is its cost before divided by its ratio.
    cost.after_ns += calls * *row.baseline_ns / *row.speedup;
    cost.after_low_ns += calls * *row.baseline_ns / *row.speedup_high;
    cost.after_high_ns += calls * *row.baseline_ns / *row.speedup_low;
  }
  if (cost.calls == 0) return std::nullopt;
  return cost;
}

std::string worth_text(const BestRow& row) {
  switch (row.worth) {
    case Worth::faster:
    case Worth::slower: return print_speedup(*row.speedup, *row.speedup_low, *row.speedup_high);
    case Worth::tie:
      if (*row.speedup_low == 1 && *row.speedup_high == 1) return "tie, baseline stays";
      return fmt::format("tie ({:.2f}–{:.2f})", *row.speedup_low, *row.speedup_high);
    case Worth::baseline: return "baseline is best";
    case Worth::contended: return "contended";
    case Worth::unmeasured: return "not measured";
  }
  return {};
}

std::string rejected_text(const std::map<std::string, int>& rejected) {
  std::vector<std::pair<std::string, int>> sorted(rejected.begin(), rejected.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [reason, count] : sorted) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, reason);
  return text.empty() ? "none" : text;
}

std::string print_best(const std::vector<BestRow>& rows, bool colour) {
  if (rows.empty()) return "nothing has been tuned in this store\n";
  const bool has_devices = std::any_of(rows.begin(), rows.end(), [&](const BestRow& row) { return row.device != rows.front().device; });
  TextTable table;
  if (has_devices) table.column("device");
  table.column("problem").column("calls", Align::right).column("baseline").column("time", Align::right).column("best", Align::right);
  table.column("speedup (95 %)").column("candidate").column("tried", Align::right).column("rejected");
  for (const BestRow& row : rows) {
    std::vector<std::string> cells = cells_of(row);
    if (has_devices) cells.insert(cells.begin(), row.device);
    table.row(std::move(cells));
  }
  std::string text = table.print(colour);
  if (const auto cost = demand_cost(rows)) text += "\n" + print_cost(*cost);
  const std::string notes = notes_below(rows);
  return notes.empty() ? text : text + "\n" + notes;
}

std::string best_json(const std::vector<BestRow>& rows) {
  Json array = Json::array();
  for (const BestRow& row : rows)
    array.push_back({{"operator", row.operator_name},
                     {"problem", row.problem},
                     {"device", row.device},
                     {"calls", row.calls},
                     {"baseline", row.baseline},
                     {"baseline_ns", or_null(row.baseline_ns)},
                     {"best_ns", or_null(row.best_ns)},
                     {"speedup", or_null(row.speedup)},
                     {"speedup_low", or_null(row.speedup_low)},
                     {"speedup_high", or_null(row.speedup_high)},
                     {"candidate", row.candidate},
                     {"schedule", row.schedule},
                     {"tried", row.tried},
                     {"rejected", row.rejected}});
  return array.dump(2) + "\n";
}

std::string best_halide(db::Store& store, const std::vector<BestRow>& rows) {
  std::string text;
  for (const BestRow& row : rows) {
    if (row.schedule.empty()) continue;
    const db::ProblemRow problem = db::problem(store, row.key.problem);
    const Algorithm algorithm = algorithm_from_json(db::algorithm(store, problem.algorithm).json);
    text += fmt::format("{}// {} on {}: {} against {}\n{}", text.empty() ? "" : "\n", row.problem, row.device, worth_text(row), row.baseline,
                        print_halide(parse_schedule(row.schedule), algorithm));
  }
  return text;
}

}  // namespace kiln::autotune::cli
