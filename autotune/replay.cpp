#include "autotune/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/compiled_builds.h"
#include "autotune/entrant.h"
#include "autotune/explain.h"
#include "autotune/probe.h"
#include "autotune/process/device_lock.h"
#include "autotune/records.h"
#include "db/status.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

// Longer than any replay of a sane kernel takes: two builds, a reference and 200 samples of each.
constexpr double kReplayBudget_s = 600;
constexpr double kRaceLimit_s = 60;

// The baseline of the latest race of this problem, on any device of this kind: a schedule, which is then measured here.
db::ScheduleId latest_baseline(db::Store& store, db::ProblemId problem, const std::string& kind) {
  std::optional<db::StoredRace> latest;
  for (const db::ProblemStatus& status : db::problem_status(store)) {
    if (status.key.problem != problem || db::device(store, status.key.device).kind != kind) continue;
    for (const db::StoredRace& race : db::races(store, problem, status.key.device, status.key.protocol))
      if (!latest || race.at > latest->at) latest = race;
  }
  if (!latest)
    throw UsageError(fmt::format("no race of {} on a {} names a baseline to measure against; `kiln tune` holds one", db::problem(store, problem).text,
                                 kind == "cuda" ? "GPU" : "CPU"));
  return db::trial(store, latest->row.baseline).schedule;
}

WorkItem work_item(db::Store& store, const ReplayOptions& options) {
  const ExplainSubject subject = stored_subject(store, options.schedule, options.problem);
  WorkItem item;
  item.algorithm = subject.algorithm;
  item.problem = subject.problem;
  item.algorithm_id = db::problem(store, options.problem).algorithm;
  item.problem_id = options.problem;
  return item;
}

class Replay {
 public:
  Replay(Run& run, const CompiledBuilds& builds, WorkItem item, std::vector<db::ScheduleId> schedules) : run_(run), builds_(builds), item_(std::move(item)) {
    for (const db::ScheduleId id : schedules) plan(id);
  }

  // The candidate is the last schedule, the baseline the first; they may be one.
  ReplayOutcome go() {
    outcome_.is_baseline = entrants_.size() == 1;
    compile();
    if (refused()) return outcome_;
    check_all();
    if (refused()) return outcome_;
    measure_floor();
    race();
    if (run_.device.gpu && !outcome_.rejection && !run_.is_stopped()) take_clocks();
    return outcome_;
  }

 private:
  void plan(db::ScheduleId id) {
    const db::ScheduleRow row = db::schedule(run_.store, id);
    Entrant entrant;
    entrant.wish = {parse_schedule(row.text), row.origin, {}, row.space, false};
    entrant.digest = row.digest;
    entrant.schedule = id;
    entrant.trial = plan_trial(run_.store, run_.id, item_.problem_id, id);
    entrants_.push_back(std::move(entrant));
  }

  void tell(const std::string& phase, int done) const {
    Step step;
    step.phase = phase;
    step.problem = print(item_.problem);
    step.done = done;
    step.total = static_cast<int>(entrants_.size());
    step.noise = outcome_.floor;
    step.seconds_left = run_.budget.left_s(run_.spent_s());
    run_.progress.step(step);
  }

  void compile() {
    std::vector<CompileJob> jobs;
    for (std::size_t i = 0; i < entrants_.size(); ++i)
      jobs.push_back(job_for(run_.limits, item_, entrants_[i].wish.schedule, static_cast<std::int64_t>(i)));
    rejections_.resize(entrants_.size());
    int done = 0;
    tell("compiling", 0);
    builds_.pool().run(
        std::move(jobs), [&](std::int64_t id) { start_trial(run_.store, entrants_[static_cast<std::size_t>(id)].trial); },
        [&](const CompileOutcome& outcome) {
          take_build(static_cast<std::size_t>(outcome.id), outcome);
          tell("compiling", ++done);
        },
        [&] { return run_.is_stopped(); });
  }

  void take_build(std::size_t i, const CompileOutcome& outcome) {
    Entrant& entrant = entrants_[i];
    generators::Build build = outcome.build;
    if (build.key == Digest{})  // a worker that crashed could not tell it
      build.key = builds_.back_end().build_key(*item_.algorithm, entrant.wish.schedule, item_.problem);
    entrant.build = record_build(run_.store, item_.problem_id, build_row(build, outcome.object, entrant.schedule, run_.toolchain_id, run_.device_id));
    attach_build(run_.store, entrant.trial, entrant.build);
    entrant.predicted = build.predicted;
    if (build.rejection) {
      reject_trial(run_.store, entrant.trial, rejection_row(*build.rejection));
      rejections_[i] = build.rejection;
      return;
    }
    entrant.object = outcome.object.value();
    requeue_trial(run_.store, entrant.trial);
  }

  void check_all() {
    key_ = run_.measurer.prepare(subject_of(item_.algorithm, item_.problem, run_.builds.reference(run_, item_), run_.seed)).key;
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      if (run_.is_stopped()) return;
      tell("checking", static_cast<int>(i));
      rejections_[i] = check(run_, item_, key_, entrants_[i]);
    }
  }

  // Ends the replay when something is not as it was. The baseline failing is the machine's or the toolchain's doing: without it nothing can be said.
  bool refused() {
    if (rejections_.front() && !outcome_.is_baseline)
      throw EnvironmentError(fmt::format("the baseline of {} cannot be measured here: {}: {}", print(item_.problem), print(rejections_.front()->reason),
                                         rejections_.front()->text));
    outcome_.rejection = rejections_.back();
    return outcome_.rejection.has_value() || run_.is_stopped();
  }

  void measure_floor() {
    const FloorOutcome floor = run_.measurer.floor(key_, entrants_.front().candidate(), run_.seed);
    outcome_.floor = std::max(0.0, floor.floor);
    outcome_.contended = floor.contended;
    db::NoiseFloor row;
    row.p95_relative = outcome_.floor;
    record_noise_floor(run_.store, run_.id, row);
    if (floor.contended) run_.note("contended", fmt::format("the same kernel twice differs by {:.1f} %", 100 * floor.floor));
  }

  void race() {
    std::vector<RaceEntry> entries;
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      start_trial(run_.store, entrants_[i].trial);
      entries.push_back({entrants_[i].candidate(), i == 0, i == 0});
    }
    RaceOptions options;
    options.stage = RaceStage::final_;
    options.floor = outcome_.floor;
    options.limit_s = kRaceLimit_s;
    options.seed = run_.seed;
    options.fresh_process = true;
    tell("measuring", 0);
    std::vector<RaceResult> results;
    run_.measurer.race(
        key_, entries, options, [&](const RaceResult& result) { results.push_back(result); }, [&] { return run_.stop_request() == StopRequest::leave; });
    record(results);
  }

  // Each by itself: they say what a call costs an application, and are compared with nothing.
  void take_clocks() {
    tell("clocks", 0);
    outcome_.clocks = run_.measurer.clocks(key_, entrants_.back().candidate());
    if (!outcome_.is_baseline) outcome_.baseline_clocks = run_.measurer.clocks(key_, entrants_.front().candidate());
  }

  void record(const std::vector<RaceResult>& results) {
    std::vector<db::MeasurementRow> rows;
    bool baseline_timed = false;
    for (const RaceResult& result : results) {
      const auto trial = static_cast<db::TrialId>(result.id);
      const bool is_candidate = trial == entrants_.back().trial;
      if (is_candidate) outcome_.rejection = result.rejection;
      if (result.rejection || result.samples.empty()) continue;
      rows.push_back(measurement_row(result, trial, outcome_.contended));
      if (trial == entrants_.front().trial) {
        baseline_timed = true;
        outcome_.baseline_ns = result.value_ns;
      }
      if (!is_candidate) continue;
      outcome_.value_ns = result.value_ns;
      outcome_.to_baseline = result.to_baseline;
    }
    if (baseline_timed) {
      db::RaceRow race;
      race.run = run_.id;
      race.problem = item_.problem_id;
      race.protocol = run_.protocol_id;
      race.stage = "revalidate";
      race.baseline = entrants_.front().trial;
      race.floor = outcome_.floor;
      record_race(run_.store, race, rows);
    }
    settle(results);
  }

  void settle(const std::vector<RaceResult>& results) {
    for (const RaceResult& result : results) {
      const auto trial = static_cast<db::TrialId>(result.id);
      if (result.rejection)
        reject_trial(run_.store, trial, rejection_row(*result.rejection));
      else if (!result.samples.empty())
        finish_trial(run_.store, trial);
    }
  }

  Run& run_;
  const CompiledBuilds& builds_;
  WorkItem item_;
  std::string key_;
  std::vector<Entrant> entrants_;  // the baseline first, the candidate last
  std::vector<std::optional<generators::Rejection>> rejections_;
  ReplayOutcome outcome_;
};

}  // namespace

ReplayOutcome replay(db::Store& store, const ReplayOptions& options, Progress& progress, const std::function<StopRequest()>& stop_request) {
  const auto started = Clock::now();
  const std::string kind = gpu_ordinal(options.device) ? "cuda" : "cpu";
  const db::ScheduleId baseline = latest_baseline(store, options.problem, kind);
  WorkItem item = work_item(store, options);
  const std::optional<KnownTime> earlier = known_time(store, options.schedule, options.problem, kind);
  const Probe probe = autotune::probe(options.launch, options.device);
  const BackEnd back_end(probe.device);
  const DeviceLock lock(digest(probe.device), options.command, DeviceLock::default_folder(), options.wait,
                        [&](const std::string& text) { progress.note(text); }, [&] { return stop_request() != StopRequest::go_on; });
  db::recover(store);
  const Protocol protocol = protocol_for(probe.device, options.cache, options.threads);
  const Objects objects(options.cache_folder.empty() ? std::filesystem::path(db::cache_folder(store.path())) : options.cache_folder);
  CompilePool pool(probe.host_cores, probe.device, objects, options.launch);
  CompiledBuilds builds(back_end, pool);
  Measurer measurer(probe.device, protocol, objects, {}, options.launch);  // nothing promises an end: the widest limits
  const db::DeviceId device = keep(store, device_row(probe.device));
  const db::ToolchainId toolchain = keep(store, toolchain_row(back_end));
  const db::ProtocolId protocol_id = db::keep_protocol(store, print(protocol));
  Run run{.store = store,
          .device = probe.device,
          .device_id = device,
          .toolchain_id = toolchain,
          .protocol_id = protocol_id,
          .id = begin_run(store, run_row({device, toolchain, protocol_id}, probe.conditions, options.seed, options.command)),
          .objects = objects,
          .builds = builds,
          .measurer = measurer,
          .progress = progress,
          .stop_request = stop_request,
          .budget = Budget(kReplayBudget_s),
          .limits = {},
          .started = started,
          .seed = options.seed};
  std::vector<db::ScheduleId> schedules = {baseline};
  if (options.schedule != baseline) schedules.push_back(options.schedule);
  try {
    ReplayOutcome outcome = Replay(run, builds, std::move(item), schedules).go();
    end_run(store, run.id, run.is_stopped() ? "interrupted" : "done");
    outcome.run = db::run(store, run.id).row.uuid;
    outcome.problem = db::problem(store, options.problem).text;
    outcome.candidate = db::schedule(store, options.schedule).digest.short_hex();
    outcome.baseline = db::schedule(store, baseline).text;
    outcome.baseline_origin = db::schedule(store, baseline).origin;
    if (earlier) outcome.earlier_ratio = earlier->outcome.ratio;
    return outcome;
  } catch (...) {
    end_run(store, run.id, "failed");
    throw;
  }
}

}  // namespace kiln::autotune
