#include "autotune/coverage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "autotune/measure/ragged.h"
#include "autotune/sweep.h"
#include "autotune/builds.h"
#include "db/choices.h"
#include "db/coverage.h"

namespace kiln::autotune {
namespace {

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

void cover_intervals(Run& run, const std::vector<Tuning>& tunings) {
  for (const auto& [algorithm, items] : by_algorithm(tunings)) {
    if (run.stop_request() == StopRequest::leave) return;
    cover_buckets(run, items, run.builds.reference(run, *items.front()));
  }
}

}  // namespace kiln::autotune
