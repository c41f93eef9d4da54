#include "autotune/compiled_builds.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "autotune/records.h"
#include "dsl/error.h"
#include "dsl/legality.h"

namespace kiln::autotune {
namespace {

using generators::Reason;
using generators::Rejection;

constexpr std::int64_t kCompileMemory_bytes = std::int64_t{4} << 30;
constexpr std::int64_t kAutoscheduleMemory_bytes = std::int64_t{8} << 30;  // Adams2019 took 0.1 to more than 13 GB on 14 applications

// Never more than half of what the machine has: a search that grows without end must not take the others' memory.
std::int64_t autoschedule_memory_bytes() {
  const std::int64_t physical = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  return std::min(kAutoscheduleMemory_bytes, physical / 2);
}

// One wish on its way to the pool.
struct Pending {
  std::size_t index = 0;  // into the wishes
  db::ScheduleId schedule{};
  db::TrialId trial{};
};

class Builder {
 public:
  Builder(const CompiledBuilds& builds, Run& run, const WorkItem& item, const std::vector<Wish>& wishes) : builds_(builds), run_(run), item_(item) {
    for (const Wish& wish : wishes) admissions_.push_back({wish, {}, {}});
  }

  std::vector<Admission> build() {
    std::vector<CompileJob> jobs;
    for (std::size_t i = 0; i < admissions_.size(); ++i) {
      const Wish& wish = admissions_[i].wish;
      const db::ScheduleId schedule = keep(run_.store, schedule_row(wish, item_));
      if (refused_as_illegal(i, schedule) || settled_by_known_build(i, schedule)) continue;
      const auto id = static_cast<std::int64_t>(i);
      pending_[id] = {i, schedule, plan_trial(run_.store, run_.id, item_.problem_id, schedule)};
      jobs.push_back(job_for(run_.limits, item_, wish.schedule, id));
    }
    builds_.pool().run(
        std::move(jobs), [&](std::int64_t id) { start_trial(run_.store, pending_.at(id).trial); },
        [&](const CompileOutcome& outcome) { take(outcome); }, [&] { return run_.stop_request() == StopRequest::leave; });
    return std::move(admissions_);
  }

 private:
  Digest key_of(const Schedule& schedule) const { return builds_.back_end().build_key(*item_.algorithm, schedule, item_.problem); }

  bool refused_as_illegal(std::size_t i, db::ScheduleId schedule) {
    const auto illegal = find_illegal(admissions_[i].wish.schedule, *item_.algorithm, &item_.problem);
    if (!illegal) return false;
    reject(i, schedule, std::nullopt, generators::rejection_of(*illegal));
    return true;
  }

  // A build key met before: its rejection holds here too, its object is used when it is still there.
  bool settled_by_known_build(std::size_t i, db::ScheduleId schedule) {
    const auto known = find_build(run_.store, key_of(admissions_[i].wish.schedule), item_.problem_id);
    if (!known) return false;
    if (known->row.rejection) {
      if (may_end_now(*known->row.rejection, admissions_[i].wish.schedule, run_.limits)) return false;
      reject(i, schedule, known->id, rejection_from(*known->row.rejection));
      return true;
    }
    const auto object = object_of(run_, known->row);
    if (!object || known->row.predicted.empty()) return false;  // not judged for this problem yet: predicted reports depend on extents
    const db::TrialId trial = plan_trial(run_.store, run_.id, item_.problem_id, schedule);
    attach_build(run_.store, trial, known->id);
    admit(i, {schedule, trial, known->id, *object, generators::predicted_from_json(known->row.predicted)});
    return true;
  }

  void take(const CompileOutcome& outcome) {
    const Pending& pending = pending_.at(outcome.id);
    const db::BuildId build = record_build(run_.store, item_.problem_id,
                                           build_row(keyed(outcome.build, pending.index), outcome.object, pending.schedule, run_.toolchain_id, run_.device_id));
    attach_build(run_.store, pending.trial, build);
    if (outcome.build.rejection) {
      reject_trial(run_.store, pending.trial, rejection_row(*outcome.build.rejection));
      admissions_[pending.index].rejection = outcome.build.rejection;
      return;
    }
    KILN_CHECK(outcome.object.has_value(), "a build without a rejection has no object");
    requeue_trial(run_.store, pending.trial);
    admit(pending.index, {pending.schedule, pending.trial, build, *outcome.object, outcome.build.predicted});
    admissions_[pending.index].entrant->directives = outcome.build.directives;
  }

  // A worker that crashed or ran out of time could not tell the key.
  generators::Build keyed(generators::Build build, std::size_t index) const {
    if (build.key == Digest{}) build.key = key_of(admissions_[index].wish.schedule);
    return build;
  }

  void admit(std::size_t i, const Built& built) { admissions_[i].entrant = entrant_of(item_, admissions_[i].wish, built); }

  void reject(std::size_t i, db::ScheduleId schedule, std::optional<db::BuildId> build, const Rejection& rejection) {
    record_rejected(run_.store, run_.id, item_.problem_id, schedule, build, rejection_row(rejection));
    admissions_[i].rejection = rejection;
  }

  const CompiledBuilds& builds_;
  Run& run_;
  const WorkItem& item_;
  std::vector<Admission> admissions_;
  std::map<std::int64_t, Pending> pending_;
};

bool is_opaque(db::Store& store, db::ScheduleId id) { return parse_schedule(schedule(store, id).text).is_opaque(); }

// Equal objects are measured once: later ones of the same batch, and those of earlier batches and runs.
void drop_equal_objects(Run& run, const WorkItem& item, std::vector<Admission>& admissions) {
  std::map<std::string, db::ScheduleId> seen;
  for (Admission& admission : admissions) {
    if (!admission.entrant) continue;
    const Entrant& entrant = *admission.entrant;
    std::string twin;
    if (const auto [at, is_new] = seen.try_emplace(entrant.object.hash, entrant.schedule); !is_new) {
      twin = schedule(run.store, at->second).digest.short_hex();
    } else {
      const Digest binary = build(run.store, entrant.build, item.problem_id).row.binary.value();
      const auto same = find_same_binary(run.store, binary, item.problem_id, run.device_id, run.protocol_id);
      // What an opaque schedule did, said in directives, is no twin of it: it is what can be edited, and has to have a time.
      if (same && same->schedule != entrant.schedule && (entrant.wish.schedule.is_opaque() || !is_opaque(run.store, same->schedule)))
        twin = schedule(run.store, same->schedule).digest.short_hex();
    }
    if (twin.empty()) continue;
    admission.rejection = Rejection{Reason::same_as_build, {}, {}, "its object has the same bytes as that of schedule " + twin};
    reject_trial(run.store, entrant.trial, rejection_row(*admission.rejection));
    admission.entrant.reset();
  }
}

}  // namespace

CompileJob job_for(const Limits& limits, const WorkItem& item, const Schedule& schedule, std::int64_t id) {
  CompileJob job;
  job.id = id;
  job.algorithm = item.algorithm;
  job.schedule = print(schedule);
  job.problem = item.problem;
  job.limit_s = build_limit_s(limits, schedule);
  job.memory_bytes = autoscheduler_of(schedule).empty() ? kCompileMemory_bytes : autoschedule_memory_bytes();
  return job;
}

db::ToolchainRow toolchain_row(const BackEnd& back_end) {
  const std::string& text = back_end.toolchain_text();
  return {.digest = digest("toolchain", text), .text = text};
}

ObjectRef CompiledBuilds::reference(Run& run, const WorkItem& item) {
  CompileJob job;
  job.what = CompileJob::What::reference;
  job.algorithm = item.algorithm;
  job.problem = item.problem;
  job.limit_s = run.limits.autoschedule_s;
  std::optional<CompileOutcome> outcome;
  pool_.run({job}, [](std::int64_t) {}, [&](CompileOutcome done) { outcome = std::move(done); });
  if (!outcome || outcome->build.rejection || !outcome->object) {
    throw UsageError(fmt::format("the reference of {} cannot be built: {}", print(item.problem),
                                 outcome && outcome->build.rejection ? outcome->build.rejection->text : "no worker answered"));
  }
  return *outcome->object;
}

std::vector<Admission> CompiledBuilds::build(Run& run, const WorkItem& item, const std::vector<Wish>& wishes) {
  std::vector<Admission> admissions = Builder(*this, run, item, wishes).build();
  drop_equal_objects(run, item, admissions);
  return admissions;
}

std::optional<ObjectRef> CompiledBuilds::rebuild(Run& run, const WorkItem& item, const Schedule& schedule) {
  std::optional<ObjectRef> built;
  pool_.run({job_for(run.limits, item, schedule, 0)}, [](std::int64_t) {}, [&](const CompileOutcome& outcome) { built = outcome.object; });
  return built;
}

std::string CompiledBuilds::directives_of(Run& run, const WorkItem& item, const Schedule& opaque) {
  std::string directives;
  pool_.run({job_for(run.limits, item, opaque, 0)}, [](std::int64_t) {}, [&](const CompileOutcome& outcome) { directives = outcome.build.directives; });
  return directives;
}

}  // namespace kiln::autotune
