#include "autotune/coverage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "autotune/builds.h"
#include "autotune/measure/ragged.h"
#include "autotune/sweep.h"
#include "db/choices.h"
#include "db/coverage.h"
#include "generators/cuda/image.h"

namespace kiln::autotune {
namespace {

// Where a problem of the double extent needs more, the interval ends at the extent itself: its reference would take the time of the next run.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

// The symbol in which the problems of one algorithm differ when it is only one; else that of its first output's outermost dimension, as rows are.
std::optional<std::string> served_symbol(const std::vector<const WorkItem*>& items) {
  const Algorithm& algorithm = *items.front()->algorithm;
  std::set<std::string> varying;
  for (const auto& [symbol, extent] : items.front()->problem.extents)
    for (const WorkItem* item : items)
      if (item->problem.extents.at(symbol) != extent) varying.insert(symbol);
  if (varying.size() == 1) return *varying.begin();
  const auto output = std::find_if(algorithm.arguments.begin(), algorithm.arguments.end(), [](const Argument& argument) { return argument.is_output; });
  for (const auto& [symbol, axes] : algorithm.symbols)
    for (const Axis& axis : axes)
      if (axis.argument == output->name && axis.dimension == output->rank - 1) return symbol;
  return std::nullopt;
}

std::int64_t bytes_of_arguments(const Problem& problem, const Algorithm& algorithm) {
  std::int64_t bytes = 0;
  for (const Argument& argument : algorithm.arguments) {
    std::int64_t elements = argument.type.bytes();
    for (int d = 0; d < argument.rank; ++d) elements *= extent_of(problem, algorithm, argument.name, d);
    bytes += elements;
  }
  return bytes;
}

// A GPU's kernels may ask for multiples, as of rows that are read 16 bytes at a time, and for no more than their threads cover. What is asked is refused by the
// package's guards inside the interval too.
std::optional<ServedInterval> taken_by(const Run& run, const std::string& object, const std::vector<Axis>& places, const ServedInterval& interval) {
  if (!run.device.gpu) return interval;
  return within(interval, generators::cuda::guard_of(generators::cuda::unpack(run.objects.object(object)).record, places));
}

void cover_bucket(Run& run, const WorkItem& item, const ObjectRef& reference, const std::string& symbol, const ServedInterval& wished) {
  const auto choice = choice_in_force(run.store, item.problem_id, run.device_id);
  if (!choice || !choice->serving_trial) return;
  const db::TrialRow trial = db::trial(run.store, *choice->serving_trial);
  if (!trial.build) return;
  const db::BuildRow build = db::build(run.store, *trial.build, item.problem_id).row;
  const auto taken = taken_by(run, build.binary.value().hex(), item.algorithm->symbols.at(symbol), wished);
  if (!taken) return;
  const ServedInterval interval = *taken;
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

void cover_group(Run& run, const ServedGroup& group, const ObjectRef& reference) {
  std::vector<std::int64_t> extents;
  for (const WorkItem* item : group.items) extents.push_back(item->problem.extents.at(group.symbol));
  const std::vector<ServedInterval> intervals = bucket_intervals(extents);
  for (std::size_t i = 0; i < extents.size() && run.budget.left_s(run.spent_s()) > Budget::kClosing_s; ++i) {
    const WorkItem& item = *group.items[i];
    ServedInterval served = intervals[i];
    Problem largest = item.problem;
    largest.extents[group.symbol] = served.most;
    if (bytes_of_arguments(largest, *item.algorithm) > kMostBytes) served.most = extents[i];
    cover_bucket(run, item, reference, group.symbol, served);
  }
}

}  // namespace

std::vector<ServedGroup> served_groups(const std::vector<const WorkItem*>& items, bool has_generic) {
  const std::optional<std::string> symbol = served_symbol(items);
  std::vector<ServedGroup> groups;
  if (!symbol) return groups;
  for (const WorkItem* item : items) {
    const auto is_alike = [&](const ServedGroup& group) {
      Problem moved = item->problem;
      moved.extents[*symbol] = group.items.front()->problem.extents.at(*symbol);
      return moved == group.items.front()->problem;
    };
    const auto found = std::find_if(groups.begin(), groups.end(), is_alike);
    if (found == groups.end()) groups.push_back({*symbol, {item}});
    else found->items.push_back(item);
  }
  if (has_generic) std::erase_if(groups, [](const ServedGroup& group) { return group.items.size() < 2; });
  const auto by_extent = [&](const WorkItem* a, const WorkItem* b) { return a->problem.extents.at(*symbol) < b->problem.extents.at(*symbol); };
  for (ServedGroup& group : groups) std::sort(group.items.begin(), group.items.end(), by_extent);
  return groups;
}

std::optional<ServedInterval> within(const ServedInterval& interval, const generators::cuda::LaunchGuard& guard) {
  if (guard.exactly > 0) return std::nullopt;
  const std::int64_t most = guard.at_most > 0 ? std::min(interval.most, guard.at_most) : interval.most;
  const ServedInterval taken{(interval.least + guard.multiple - 1) / guard.multiple * guard.multiple, most / guard.multiple * guard.multiple};
  return taken.least <= taken.most ? std::optional(taken) : std::nullopt;
}

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

double coverage_need_s(const Run& run, const std::vector<Tuning>& tunings) {
  std::set<const WorkItem*> served;
  for (const auto& [algorithm, items] : by_algorithm(tunings))
    for (const ServedGroup& group : served_groups(items, !run.device.gpu)) served.insert(group.items.begin(), group.items.end());
  double seconds = 0;
  for (const Tuning& tuning : tunings)
    if (served.contains(&tuning.item())) seconds += 2 * tuning.preparing_s();
  return seconds;
}

void cover_intervals(Run& run, const std::vector<Tuning>& tunings) {
  for (const auto& [algorithm, items] : by_algorithm(tunings)) {
    if (run.stop_request() == StopRequest::leave) return;
    const ObjectRef reference = run.builds.reference(run, *items.front());
    for (const ServedGroup& group : served_groups(items, !run.device.gpu)) cover_group(run, group, reference);
  }
}

}  // namespace kiln::autotune
