#include "autotune/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "autotune/measure/ragged.h"
#include "autotune/records.h"
#include "dsl/error.h"
#include "db/artifacts.h"
#include "db/choices.h"
#include "db/coverage.h"
#include "generators/host/host.h"
#include "schedules/spaces.h"

namespace kiln::autotune {
namespace {

using generators::host::Isa;

// What a check of one object over several problems found.
struct Sweep {
  std::vector<std::string> checked;
  double max_error = 0;
  std::string failure;  // empty: all passed
};

// The reference's own demands decide which problems make sense: one that it cannot run is left out.
Sweep sweep(Run& run, const WorkItem& item, const ObjectRef& reference, const ObjectRef& object, const std::vector<Problem>& problems,
            int alignment_bytes) {
  Sweep result;
  for (const Problem& problem : problems) {
    Subject subject;
    subject.algorithm = item.algorithm;
    subject.problem = problem;
    subject.reference = reference;
    subject.seed = run.seed;
    std::string key;
    try {
      key = run.measurer.prepare(subject).key;
    } catch (const UsageError&) {
      continue;
    }
    Candidate candidate;
    candidate.object = object;
    CheckOptions options;
    options.alignment_bytes = alignment_bytes;
    options.call_limit_s = run.limits.call_s;
    options.ragged = false;
    const CheckOutcome outcome = run.measurer.check(key, candidate, options);
    if (outcome.rejection) {
      result.failure = fmt::format("{}: {}", print(problem), outcome.rejection->text);
      return result;
    }
    result.checked.push_back(print(problem));
    if (outcome.worst) result.max_error = std::max(result.max_error, outcome.worst->severity);
  }
  if (result.checked.empty()) result.failure = "none of the problems to check it on can be run by the reference";
  return result;
}

// A generic build takes pointers that are aligned to one element only.
int element_bytes(const Algorithm& algorithm) {
  int least = 64;
  for (const Argument& argument : algorithm.arguments)
    if (!argument.is_scalar) least = std::min(least, argument.type.bytes());
  return least;
}

class GenericBuilder {
 public:
  GenericBuilder(Run& run, const WorkItem& item, ObjectRef reference) : run_(run), item_(item), reference_(std::move(reference)) {}

  void cover(Isa isa) {
    const Schedule schedule = schedules::any_extent_schedule(*item_.algorithm, run_.device);
    const std::string target = generators::host::target_string(run_.device, isa, item_.algorithm->contract);
    const Digest key = generators::host::build_key(*item_.algorithm, schedule, item_.problem, target);
    for (const db::CoverageRow& row : coverage(run_.store, item_.algorithm_id, run_.device_id))
      if (row.tier == "generic" && db::build(run_.store, row.build, row.problem).row.key == key) return;  // covered by an earlier run

    CompileJob job;
    job.algorithm = item_.algorithm;
    job.schedule = print(schedule);
    job.problem = item_.problem;
    job.isa = isa;
    job.limit_s = run_.limits.build_s;
    std::optional<CompileOutcome> outcome;
    run_.pool.run({job}, [](std::int64_t) {}, [&](CompileOutcome done) { outcome = std::move(done); });
    if (!outcome) return;
    if (outcome->build.rejection) return complain(target, outcome->build.rejection->text);
    const Sweep found = sweep(run_, item_, reference_, *outcome->object, generic_cases(item_.problem, *item_.algorithm), element_bytes(*item_.algorithm));
    if (!found.failure.empty()) return complain(target, found.failure);
    db::Transaction all = run_.store.transaction("record a generic build in");
    record(schedule, *outcome, found);
    all.commit();
  }

 private:
  void record(const Schedule& schedule, const CompileOutcome& outcome, const Sweep& found) {
    db::ScheduleRow row;
    row.digest = digest(schedule);
    row.algorithm = item_.algorithm_id;
    row.text = print(schedule);
    row.origin = "seed";
    row.numerics_class = numerics_class(schedule, *item_.algorithm);
    const db::ScheduleId schedule_id = keep(run_.store, row);
    const db::BuildId build = record_build(run_.store, item_.problem_id,
                                           build_row(outcome.build, outcome.object, schedule_id, run_.toolchain_id, run_.device_id));
    put_artifact(run_.store, "object", outcome.build.artifact->bytes);
    record_coverage(run_.store, {.tier = "generic",
                                 .build = build,
                                 .problem = item_.problem_id,
                                 .device = run_.device_id,
                                 .extents = {},
                                 .checked = found.checked,
                                 .max_error = found.max_error});
  }

  void complain(const std::string& target, const std::string& why) const {
    run_.note("no_generic", fmt::format("{}: no generic variant for {}: {}", item_.problem.operator_name, target, why));
  }

  Run& run_;
  const WorkItem& item_;
  ObjectRef reference_;
};

// The symbol in which the problems of one algorithm differ when it is only one.
std::optional<std::string> varying_symbol(const std::vector<const WorkItem*>& items) {
  std::set<std::string> varying;
  for (const auto& [symbol, extent] : items.front()->problem.extents)
    for (const WorkItem* item : items)
      if (item->problem.extents.at(symbol) != extent) varying.insert(symbol);
  for (const WorkItem* item : items)
    if (item->problem.orders != items.front()->problem.orders) return std::nullopt;
  return varying.size() == 1 ? std::optional(*varying.begin()) : std::nullopt;
}

void cover_bucket(Run& run, const WorkItem& item, const ObjectRef& reference, const std::string& symbol, ServedInterval interval) {
  const auto choice = choice_in_force(run.store, item.problem_id, run.device_id);
  if (!choice || !choice->serving_trial) return;
  const db::TrialRow trial = db::trial(run.store, *choice->serving_trial);
  if (!trial.build) return;
  const db::BuildRow build = db::build(run.store, *trial.build, item.problem_id).row;
  std::vector<Problem> ends(2, item.problem);
  ends[0].extents[symbol] = interval.least;
  ends[1].extents[symbol] = interval.most;
  for (const db::CoverageRow& row : coverage(run.store, item.algorithm_id, run.device_id)) {
    const bool is_same = row.tier == "bucket" && row.problem == item.problem_id && row.build == *trial.build &&
                         row.extents == decltype(row.extents){{symbol, {interval.least, interval.most}}};
    if (is_same) return;
  }
  db::drop_buckets(run.store, item.problem_id, run.device_id);
  const Sweep found = sweep(run, item, reference, {build.binary.value().hex(), build.symbol, build.target}, ends, 64);
  // A winner that is not right at an end (its tiles are larger, say) serves its own problem only: the generic variant takes the rest.
  if (!found.failure.empty() || found.checked.size() != ends.size()) return;
  record_coverage(run.store, {.tier = "bucket",
                              .build = *trial.build,
                              .problem = item.problem_id,
                              .device = run.device_id,
                              .extents = {{symbol, {interval.least, interval.most}}},
                              .checked = found.checked,
                              .max_error = found.max_error});
}

std::map<db::AlgorithmId, std::vector<const WorkItem*>> by_algorithm(const std::vector<Tuning>& tunings) {
  std::map<db::AlgorithmId, std::vector<const WorkItem*>> groups;
  for (const Tuning& tuning : tunings) groups[tuning.item().algorithm_id].push_back(&tuning.item());
  return groups;
}

void cover_buckets(Run& run, std::vector<const WorkItem*> items, const ObjectRef& reference) {
  if (items.size() < 2) return;
  const std::optional<std::string> symbol = varying_symbol(items);
  if (!symbol) return;
  std::sort(items.begin(), items.end(), [&](const WorkItem* a, const WorkItem* b) { return a->problem.extents.at(*symbol) < b->problem.extents.at(*symbol); });
  std::vector<std::int64_t> extents;
  for (const WorkItem* item : items) extents.push_back(item->problem.extents.at(*symbol));
  const std::vector<ServedInterval> intervals = bucket_intervals(extents);
  for (std::size_t i = 0; i < items.size() && run.budget.left_s(run.spent_s()) > Budget::kClosing_s; ++i)
    cover_bucket(run, *items[i], reference, *symbol, intervals[i]);
}

}  // namespace

std::vector<ServedInterval> bucket_intervals(const std::vector<std::int64_t>& extents) {
  std::vector<ServedInterval> intervals;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t least = i == 0 ? 1 : intervals.back().most + 1;
    const std::int64_t most = i + 1 == extents.size()
                                  ? 2 * extents[i]
                                  : std::max(extents[i], static_cast<std::int64_t>(std::sqrt(static_cast<double>(extents[i]) * static_cast<double>(extents[i + 1]))));
    intervals.push_back({least, most});
  }
  return intervals;
}

std::vector<Problem> generic_cases(const Problem& problem, const Algorithm& algorithm) {
  // The smallest extent of any symbol that stands in this dimension of an argument: offsets are kept relative to it.
  std::map<int, std::int64_t> smallest;
  for (const auto& [symbol, axes] : algorithm.symbols)
    for (const Axis& axis : axes) {
      const auto [at, is_new] = smallest.try_emplace(axis.dimension, problem.extents.at(symbol));
      if (!is_new) at->second = std::min(at->second, problem.extents.at(symbol));
    }
  std::vector<Problem> cases;
  const auto add = [&](Problem one) {
    one = within_requirements(std::move(one), problem, algorithm);
    if (std::find(cases.begin(), cases.end(), one) == cases.end()) cases.push_back(std::move(one));
  };
  for (const std::int64_t extent : {1, 37, 63, 65}) {
    Problem equal = problem, shifted = problem;
    for (auto& [symbol, value] : equal.extents) value = extent;
    for (auto& [symbol, value] : shifted.extents) {
      const auto& axes = algorithm.symbols.at(symbol);
      const std::int64_t offset = axes.empty() ? 0 : value - smallest.at(axes.front().dimension);
      value = offset <= 16 ? extent + offset : extent;  // a larger difference is no halo, it is another quantity
    }
    add(std::move(equal));
    add(std::move(shifted));
  }
  return cases;
}

void cover_every_extent(Run& run, const std::vector<Tuning>& tunings) {
  for (const auto& [algorithm, items] : by_algorithm(tunings)) {
    if (run.is_stopped()) return;
    const ObjectRef reference = build_reference(run, *items.front());
    GenericBuilder generic(run, *items.front(), reference);
    generic.cover(Isa::x86_64_v2);
    generic.cover(Isa::native);
  }
}

void cover_intervals(Run& run, const std::vector<Tuning>& tunings) {
  for (const auto& [algorithm, items] : by_algorithm(tunings)) {
    if (run.stop_request() == StopRequest::leave) return;
    cover_buckets(run, items, build_reference(run, *items.front()));
  }
}

}  // namespace kiln::autotune
