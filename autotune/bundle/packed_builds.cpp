#include "autotune/bundle/packed_builds.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/artifacts.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

// The candidates that were packed, in the order in which they were planned.
std::vector<db::TrialRow> packed(db::Store& store, db::RunId planned, db::ProblemId problem) {
  std::vector<db::TrialRow> trials = db::trials(store, planned);
  std::erase_if(trials, [problem](const db::TrialRow& trial) { return trial.problem != problem || trial.rejection || !trial.build; });
  return trials;
}

}  // namespace

ObjectRef PackedBuilds::reference(Run& run, const WorkItem& item) {
  const auto found = plan_.references.find(digest(*item.algorithm));
  const auto bytes = found == plan_.references.end() ? std::nullopt : get_artifact(run.store, parse_digest(found->second.hash));
  if (!bytes) throw DataError(fmt::format("{} lacks the reference of {}: copy the bundle again", run.store.path(), print(item.problem)));
  run.objects.put_object(*bytes);
  return found->second;
}

std::vector<Admission> PackedBuilds::build(Run& run, const WorkItem& item, const std::vector<Wish>& wishes) {
  const std::vector<db::TrialRow> all = packed(run.store, plan_.run, item.problem_id);
  std::vector<Admission> admissions;
  for (const Wish& wish : wishes) {
    Admission& admission = admissions.emplace_back(Admission{wish, {}, {}});
    const auto at = std::find_if(all.begin(), all.end(), [&](const db::TrialRow& trial) {
      return db::schedule(run.store, trial.schedule).digest == digest(wish.schedule);
    });
    if (at == all.end()) continue;
    const db::BuildRow row = db::build(run.store, *at->build, item.problem_id).row;
    const std::optional<ObjectRef> object = object_of(run, row);
    if (!object)
      throw DataError(fmt::format("{} lacks the image of schedule {}: copy the bundle again", run.store.path(), digest(wish.schedule).short_hex()));
    Built built{at->schedule, plan_trial(run.store, run.id, item.problem_id, at->schedule), *at->build, *object, {}};
    attach_build(run.store, built.trial, built.build);
    if (!row.predicted.empty()) built.predicted = generators::predicted_from_json(row.predicted);
    admission.entrant = entrant_of(item, wish, built);
  }
  return admissions;
}

std::optional<std::vector<Wish>> PackedBuilds::planned(Run& run, const WorkItem& item) {
  std::vector<Wish> wishes;
  for (const db::TrialRow& trial : packed(run.store, plan_.run, item.problem_id)) {
    const db::ScheduleRow row = db::schedule(run.store, trial.schedule);
    wishes.push_back({parse_schedule(row.text), row.origin, {}, row.space, false});
  }
  return wishes;
}

}  // namespace kiln::autotune
