#include "autotune/entrant.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "autotune/builds.h"
#include "autotune/records.h"
#include "db/artifacts.h"
#include "dsl/error.h"
#include "dsl/legality.h"
#include "dsl/tolerance.h"

namespace kiln::autotune {
namespace {

using generators::Reason;
using generators::Rejection;

std::string print(const std::vector<Tolerance>& tolerances) {
  std::string text;
  for (const Tolerance& tolerance : tolerances)
    text += fmt::format("{}relative {:.3g}, outliers {:.3g}", text.empty() ? "" : "; ", tolerance.relative, tolerance.outlier_fraction);
  return text;
}

}  // namespace

std::string autoscheduler_of(const Schedule& schedule) {
  if (schedule.directives.empty() || schedule.directives.front().name != "autoschedule") return {};
  return std::get<std::string>(schedule.directives.front().arguments.front());
}

double build_limit_s(const Limits& limits, const Schedule& schedule) {
  const std::string autoscheduler = autoscheduler_of(schedule);
  if (autoscheduler.empty()) return limits.build_s;
  return autoscheduler == "Adams2019" ? limits.beam_search_s : limits.autoschedule_s;
}

db::ScheduleRow schedule_row(const Wish& wish, const WorkItem& item) {
  db::ScheduleRow row;
  row.digest = digest(wish.schedule);
  row.algorithm = item.algorithm_id;
  row.text = print(wish.schedule);
  row.origin = wish.origin;
  row.numerics_class = numerics_class(wish.schedule, *item.algorithm);
  if (wish.suggestion) {
    row.space = wish.space;
    row.point = nlohmann::json{{"phase", print(wish.suggestion->phase)}, {"point", wish.suggestion->point}}.dump();
  }
  return row;
}

// The object of a known build, when its bytes are still at hand; the store's copy is put back into the cache.
std::optional<ObjectRef> object_of(const Run& run, const db::BuildRow& row) {
  if (!row.binary) return std::nullopt;
  const ObjectRef object{row.binary->hex(), row.symbol, row.target};
  if (run.objects.has_object(object.hash)) return object;
  const auto stored = get_artifact(run.store, *row.binary);
  if (!stored) return std::nullopt;
  run.objects.put_object(*stored);
  return object;
}

Entrant entrant_of(const WorkItem& item, const Wish& wish, const Built& built) {
  Entrant entrant;
  entrant.wish = wish;
  entrant.digest = digest(wish.schedule);
  entrant.may_differ_in_order = effect_of(wish.schedule, *item.algorithm) == NumericsEffect::any_order;
  entrant.schedule = built.schedule;
  entrant.trial = built.trial;
  entrant.build = built.build;
  entrant.object = built.object;
  entrant.predicted = built.predicted;
  return entrant;
}

Candidate Entrant::candidate() const {
  Candidate candidate;
  candidate.id = static_cast<std::int64_t>(trial);
  candidate.object = object;
  candidate.may_differ_in_order = may_differ_in_order;
  return candidate;
}

bool may_end_now(const db::RejectionRow& rejection, const Schedule& schedule, const Limits& limits) {
  if (rejection.reason == print(Reason::compile_timeout)) return rejection.allowed.value_or(0) < build_limit_s(limits, schedule);
  if (rejection.reason == print(Reason::run_timeout)) return rejection.allowed.value_or(0) < limits.call_s;
  return false;
}

std::optional<Entrant> restore(Run& run, const WorkItem& item, const db::KnownOutcome& known) {
  if (known.rejection || !known.build) return std::nullopt;
  const db::ScheduleRow row = schedule(run.store, known.schedule);
  Entrant entrant;
  entrant.wish = {parse_schedule(row.text), row.origin, {}, row.space, false};
  entrant.digest = known.digest;
  entrant.may_differ_in_order = effect_of(entrant.wish.schedule, *item.algorithm) == NumericsEffect::any_order;
  entrant.schedule = known.schedule;
  entrant.trial = known.trial;
  entrant.build = *known.build;
  entrant.ratio = known.ratio;
  entrant.stage = known.stage;
  const db::KnownBuild stored = db::build(run.store, *known.build, item.problem_id);
  if (!stored.row.predicted.empty()) entrant.predicted = generators::predicted_from_json(stored.row.predicted);
  if (const auto object = object_of(run, stored.row)) {
    entrant.object = *object;
    return entrant;
  }
  const std::optional<ObjectRef> built = run.builds.rebuild(run, item, entrant.wish.schedule);
  if (!built) return std::nullopt;
  entrant.object = *built;
  return entrant;
}

std::optional<Rejection> check(Run& run, const WorkItem& item, const std::string& subject, const Entrant& entrant, double hopeless_ns) {
  start_trial(run.store, entrant.trial);
  CheckOptions options;
  options.call_limit_s = run.limits.call_s;
  options.hopeless_ns = hopeless_ns;
  options.alignment_bytes = 1;  // raised to an element's size: what passes here asks for no more of an application's pointers
  const CheckOutcome outcome = run.measurer.check(subject, entrant.candidate(), options);
  if (!outcome.rejection || outcome.rejection->reason == Reason::wrong_result || outcome.rejection->reason == Reason::nondeterministic)
    record_verification(run.store, entrant.trial, verification_row(outcome, print(tolerances(*item.algorithm, item.problem))));
  if (outcome.rejection)
    reject_trial(run.store, entrant.trial, rejection_row(*outcome.rejection));
  else
    requeue_trial(run.store, entrant.trial);
  return outcome.rejection;
}

}  // namespace kiln::autotune
