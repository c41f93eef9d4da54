#include "autotune/bundle/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "autotune/bundle/emulators.h"
#include "autotune/bundle/write.h"
#include "autotune/compiled_builds.h"
#include "autotune/gpu_starts.h"
#include "autotune/probe.h"
#include "autotune/proposals.h"
#include "autotune/records.h"
#include "autotune/tries.h"
#include "autotune/work_list.h"
#include "db/choices.h"
#include "dsl/error.h"
#include "generators/host/loaded.h"
#include "schedules/devices.h"

namespace kiln::autotune {
namespace {

using generators::Rejection;

// Of a batch each emulator has about two.
constexpr std::size_t kLeastBatch = 8;
// A space of which nearly nothing is built does not keep a bundle waiting for ever.
constexpr int kTriesPerCandidate = 25;

Device gpu_named(const std::string& name) {
  const Device& device = schedules::device_named(name);
  if (!device.gpu) throw UsageError(fmt::format("--device {}: a bundle is for a GPU; on a CPU `kiln tune` measures where it runs", name));
  return device;
}

// The candidates of one problem, on their way into the bundle.
class Packing {
 public:
  Packing(Run& run, const WorkItem& item, Emulators& emulators, const ObjectRef& reference, const std::vector<Schedule>& tries, int wanted)
      : run_(run), item_(item), emulators_(emulators), reference_(reference), tries_(tries), wanted_(wanted), proposals_(run, item) {
    packed_.problem = print(item.problem);
    for (const db::KnownOutcome& known : known_outcomes(run_.store, run_.key(item_.problem_id)))
      (known.rejection ? refused_ : passed_).insert(known.digest);
  }

  // The baseline and what is chosen now first: every race needs the one and is against the other. Then what the user brings.
  PackedProblem pack() {
    tell("planning");
    std::vector<Wish> after_the_baseline;
    for (const Schedule& schedule : tries_) after_the_baseline.push_back({schedule, "hand", {}, {}, false});
    std::vector<Wish> first = gpu_starts(item_, run_.device, run_.builds, after_the_baseline);
    if (const auto chosen = this->chosen()) after_the_baseline.insert(after_the_baseline.begin(), *chosen);
    first.insert(first.begin() + 1, after_the_baseline.begin(), after_the_baseline.end());
    if (first.size() > static_cast<std::size_t>(wanted_)) first.resize(static_cast<std::size_t>(wanted_));
    take(first);
    proposals_.open(SearchPlan{.seed = run_.seed, .expected_trials = static_cast<std::uint64_t>(wanted_), .cost = {}}, 0);
    const int most = kTriesPerCandidate * wanted_;
    while (packed_.packed < wanted_ && packed_.tried < most && !run_.search_is_over()) {
      const std::size_t batch = std::max(kLeastBatch, 2 * emulators_.count());
      const std::vector<Wish> wishes = proposals_.next(std::min(batch, static_cast<std::size_t>(wanted_ - packed_.packed)));
      if (wishes.empty()) break;
      for (const Wish& wish : take(wishes)) proposals_.observe(wish, std::nullopt);  // nobody can say here how fast it is
    }
    return packed_;
  }

 private:
  void tell(const std::string& phase) const {
    Step step;
    step.phase = phase;
    step.problem = packed_.problem;
    step.done = packed_.packed;
    step.total = wanted_;
    step.tried = packed_.tried;
    step.rejected = packed_.rejected;
    step.seconds_left = run_.budget.left_s(run_.spent_s());
    run_.progress.step(step);
    heartbeat(run_.store, run_.id);
  }

  std::optional<Wish> chosen() const {
    const auto choice = choice_in_force(run_.store, item_.problem_id, run_.device_id);
    if (!choice || !choice->serving_trial) return std::nullopt;
    const db::ScheduleRow row = db::schedule(run_.store, db::trial(run_.store, *choice->serving_trial).schedule);
    return Wish{parse_schedule(row.text), row.origin, {}, row.space, false};
  }

  // Builds and emulates those that have not had their turn; returns them.
  std::vector<Wish> take(const std::vector<Wish>& wishes) {
    std::vector<Wish> fresh;
    for (const Wish& wish : wishes)
      if (!refused_.contains(digest(wish.schedule)) && taken_.insert(digest(wish.schedule)).second) fresh.push_back(wish);
    tell("compiling");
    const std::vector<Admission> admissions = run_.builds.build(run_, item_, fresh);
    if (run_.stop_request() == StopRequest::leave) return fresh;
    for (const Admission& admission : admissions)
      if (admission.rejection) count(admission.wish, admission.rejection);
    emulate(admissions);
    return fresh;
  }

  // One that passed here before, or on a GPU, need not again: its kernels are the same. None is `running` meanwhile: whatever it does, it does to a
  // process of the emulator.
  void emulate(const std::vector<Admission>& admissions) {
    tell("emulating");
    std::vector<const Entrant*> waiting;
    for (const Admission& admission : admissions)
      if (admission.entrant && !passed_.contains(admission.entrant->digest)) waiting.push_back(&*admission.entrant);
      else if (admission.entrant) settle(*admission.entrant, std::nullopt);
    const std::vector<Emulation> emulations = emulators_.emulate(item_, waiting, reference_);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (!emulations[i].too_large.empty()) note_unemulated(*waiting[i], emulations[i].too_large);
      settle(*waiting[i], emulations[i].rejection);
    }
  }

  // Its size is no fault of the candidate: the GPU will say whether it is right.
  void note_unemulated(const Entrant& entrant, const std::string& why) {
    ++packed_.unemulated;
    run_.note("unemulated", fmt::format("{} of {} is packed without having run in the emulator: {}", entrant.digest.short_hex(), packed_.problem, why));
  }

  void settle(const Entrant& entrant, const std::optional<Rejection>& rejection) {
    if (rejection) reject_trial(run_.store, entrant.trial, rejection_row(*rejection));
    else finish_trial(run_.store, entrant.trial);
    count(entrant.wish, rejection);
  }

  void count(const Wish& wish, const std::optional<Rejection>& rejection) {
    ++packed_.tried;
    if (rejection) ++packed_.rejected[std::string(print(rejection->reason))];
    else ++packed_.packed;
    proposals_.count(digest(wish.schedule), rejection);
  }

  Run& run_;
  const WorkItem& item_;
  Emulators& emulators_;
  const ObjectRef& reference_;
  const std::vector<Schedule>& tries_;
  int wanted_;
  Proposals proposals_;
  std::set<Digest> refused_, passed_;  // by earlier runs
  std::set<Digest> taken_;
  PackedProblem packed_;
};

// Libraries for any x86-64 processor: the machine with the GPU may have neither a linker nor this one's.
ObjectRef portable_reference(CompilePool& pool, const Objects& objects, const Limits& limits, const WorkItem& item) {
  CompileJob job;
  job.what = CompileJob::What::reference;
  job.algorithm = item.algorithm;
  job.problem = item.problem;
  job.isa = generators::host::Isa::x86_64_v2;
  job.limit_s = limits.autoschedule_s;
  std::optional<CompileOutcome> outcome;
  pool.run({job}, [](std::int64_t) {}, [&](CompileOutcome done) { outcome = std::move(done); });
  if (!outcome || !outcome->object)
    throw UsageError(fmt::format("the reference of {} cannot be built: {}", print(item.problem),
                                 outcome && outcome->build.rejection ? outcome->build.rejection->text : "no worker answered"));
  const ObjectRef& object = *outcome->object;
  const generators::Artifact library = generators::host::linked({objects.object(object.hash), object.symbol, object.target});
  return {objects.put_object(library.bytes), object.symbol, object.target};
}

BundleOutcome work(Run& run, Reader& reader, CompilePool& pool, Emulators& emulators, const BundleOptions& options) {
  BundleOutcome outcome;
  outcome.run = db::run(run.store, run.id).row.uuid;
  BundleParts parts{.run = run.id, .references = {}, .items = work_list(options.plan, reader, run.store), .program = options.program};
  const std::vector<std::vector<Schedule>> tries = tries_for(parts.items, options.plan.try_files);
  for (const WorkItem& item : parts.items) {
    const Digest algorithm = digest(*item.algorithm);
    if (!parts.references.contains(algorithm))
      parts.references[algorithm] = portable_reference(pool, run.objects, run.limits, item);
  }
  int packed = 0;
  for (std::size_t i = 0; i < parts.items.size(); ++i) {
    const WorkItem& item = parts.items[i];
    if (run.stop_request() == StopRequest::leave) break;
    try {
      outcome.problems.push_back(Packing(run, item, emulators, parts.references.at(digest(*item.algorithm)), tries[i], options.candidates).pack());
      packed += outcome.problems.back().packed;
    } catch (const UsageError& error) {
      if (parts.items.size() == 1) throw;
      run.note("untunable", error.what());
    }
  }
  outcome.stopped = run.stop_request();
  if (outcome.stopped == StopRequest::leave || packed == 0) return outcome;
  outcome.bytes = write_bundle(run.store, run.objects, parts, options.folder);
  outcome.is_written = true;
  record_event(run.store, run.id, "bundled", fmt::format("{} candidates in {}", packed, options.folder.string()));
  return outcome;
}

}  // namespace

BundleOutcome bundle(const BundleOptions& options, Progress& progress, const std::function<StopRequest()>& stop_request) {
  const auto started = Clock::now();
  require_new_folder(options.folder);
  if (!std::filesystem::exists(options.program))
    throw EnvironmentError(fmt::format("{} is missing: the program that measures, which is built and installed beside kiln", options.program.string()));
  const TuneOptions& plan = options.plan;
  const Device device = gpu_named(plan.device);
  const BackEnd back_end(device);
  const Probe here = probe(plan.launch);
  db::Store store(plan.db.string());
  recover(store);
  const Protocol protocol = protocol_for(device, plan.cache, 0);
  const Objects objects(plan.cache_folder.empty() ? std::filesystem::path(db::cache_folder(plan.db.string())) : plan.cache_folder);
  const int jobs = plan.jobs > 0 ? plan.jobs : here.host_cores;
  CompilePool pool(jobs, device, objects, plan.launch);
  Emulators emulators(jobs, device, pool, objects, plan.launch);
  CompiledBuilds builds(back_end, pool);
  Measurer measurer(device, protocol, objects, {}, plan.launch);  // never asked: the device is elsewhere
  Reader reader(plan.libraries, device, {}, plan.launch);
  const RunKey key{keep(store, device_row(device)), keep(store, toolchain_row(back_end)), db::keep_protocol(store, print(protocol))};
  constexpr double kNoLimit_s = std::numeric_limits<double>::infinity();
  db::RunRow row = run_row(key, here.conditions, plan.seed, plan.command);
  if (plan.budget_s > 0) row.budget_s = plan.budget_s;
  Run run{.store = store,
          .device = device,
          .device_id = key.device,
          .toolchain_id = key.toolchain,
          .protocol_id = key.protocol,
          .id = begin_run(store, row),
          .objects = objects,
          .builds = builds,
          .measurer = measurer,
          .reader = &reader,
          .progress = progress,
          .stop_request = stop_request,
          .budget = Budget(plan.budget_s > 0 ? plan.budget_s : kNoLimit_s),
          .limits = {},
          .started = started,
          .seed = plan.seed};
  try {
    const BundleOutcome outcome = work(run, reader, pool, emulators, options);
    end_run(store, run.id, outcome.stopped == StopRequest::leave ? "interrupted" : "done");
    return outcome;
  } catch (const std::exception& error) {
    record_event(store, run.id, "failed", error.what());
    end_run(store, run.id, "failed");
    throw;
  }
}

}  // namespace kiln::autotune
