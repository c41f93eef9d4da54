#include "autotune/session.h"

#include <fmt/format.h>

#include "autotune/compiled_builds.h"
#include "autotune/conduct.h"
#include "autotune/coverage.h"
#include "autotune/probe.h"
#include "autotune/process/device_lock.h"
#include "autotune/records.h"
#include "autotune/tries.h"
#include "autotune/work_list.h"
#include "dsl/error.h"
#include "db/choices.h"

namespace kiln::autotune {
namespace {

void add_tries(const std::vector<std::vector<Schedule>>& tries, std::vector<Tuning>& tunings) {
  for (std::size_t i = 0; i < tunings.size(); ++i)
    for (const Schedule& schedule : tries[i]) tunings[i].add_seed(schedule, "hand");
}

// What the store already knows to be good for the same operator: winners of other problems, of other devices, and merged hints.
void add_neighbours(Run& run, Tuning& tuning) {
  const WorkItem& item = tuning.item();
  for (const db::Hint& hint : hints(run.store, item.algorithm_id)) tuning.add_seed(parse_schedule(schedule(run.store, hint.schedule).text), "neighbour");
  for (const db::StoredChoice& choice : choices_in_force(run.store)) {
    if (!choice.serving_trial) continue;
    if (problem(run.store, choice.row.key.problem).algorithm != item.algorithm_id) continue;
    tuning.add_seed(parse_schedule(schedule(run.store, trial(run.store, *choice.serving_trial).schedule).text), "neighbour");
  }
}

// The other shipped seeds beside the baseline. Adams2019 twice: its default beam takes minutes and gigabytes where a beam of one takes seconds, and now
// and then the latter finds the better schedule. Whichever does not end within its limits costs itself alone.
void add_autoschedulers(Tuning& tuning, int threads) {
  const std::string parallelism = "parallelism=" + std::to_string(threads);
  const std::vector<std::vector<DirectiveArgument>> all = {
      {std::string("Mullapudi2016"), parallelism},
      {std::string("Adams2019"), parallelism, std::string("beam_size=1")},
      {std::string("Adams2019"), parallelism}};
  for (const std::vector<DirectiveArgument>& arguments : all) tuning.add_seed(Schedule{{{"", -1, "autoschedule", arguments}}}, "autoscheduler");
}

struct Workers {
  Workers(const TuneOptions& options, const Limits& limits, const Probe& probe, const Protocol& protocol, const Objects& objects)
      : reader(options.libraries, probe.device, {.request_s = limits.read_s}, options.launch),
        pool(options.jobs > 0 ? options.jobs : probe.host_cores, probe.device, objects, options.launch),
        measurer(probe.device, protocol, objects, {.prepare_s = limits.reference_s}, options.launch) {}
  Reader reader;
  CompilePool pool;
  Measurer measurer;
};

db::RunId begin(db::Store& store, const TuneOptions& options, const Conditions& conditions, const RunKey& key) {
  db::RunRow row = run_row(key, conditions, options.seed, options.command);
  row.budget_s = options.budget_s;
  return begin_run(store, row);
}

TuneOutcome work(Run& run, Workers& workers, const TuneOptions& options) {
  TuneOutcome outcome;
  outcome.run = db::run(run.store, run.id).row.uuid;
  std::vector<Tuning> tunings;
  const std::vector<WorkItem> items = work_list(options, workers.reader, run.store);
  run.limits = limits_of(options.budget_s, items.size());
  for (const WorkItem& item : items) tunings.emplace_back(run, item);
  outcome.problems = static_cast<int>(tunings.size());
  add_tries(tries_for(items, options.try_files), tunings);
  std::vector<Tuning> ready = prepare(run, tunings, outcome);
  if (!run.device.gpu)
    for (Tuning& tuning : ready) add_autoschedulers(tuning, run.measurer.protocol().threads);
  if (run.stop_request() != StopRequest::leave) {
    if (!run.device.gpu) cover_every_extent(run, workers.pool, ready);
    search(run, ready, [&run](Tuning& tuning) { add_neighbours(run, tuning); });
    finals(run, ready, options.horizon_s, outcome);
  }
  conclude_run(run, workers.pool.waited_s(), outcome);
  return outcome;
}

}  // namespace

TuneOutcome tune(const TuneOptions& options, Progress& progress, const std::function<StopRequest()>& stop_request) {
  const auto started = Clock::now();
  const Probe probe = autotune::probe(options.launch, options.device);
  const BackEnd back_end(probe.device);
  const DeviceLock lock(digest(probe.device), options.command, DeviceLock::default_folder(), options.wait,
                        [&](const std::string& text) { progress.note(text); }, [&] { return stop_request() != StopRequest::go_on; });
  db::Store store(options.db.string());
  const db::Recovery recovery = recover(store);

  const Protocol protocol = protocol_for(probe.device, options.cache, options.threads);
  const Objects objects(options.cache_folder.empty() ? std::filesystem::path(db::cache_folder(options.db.string())) : options.cache_folder);
  const Limits limits = limits_of(options.budget_s);
  Workers workers(options, limits, probe, protocol, objects);
  CompiledBuilds builds(back_end, workers.pool);
  const db::DeviceId device = keep(store, device_row(probe.device));
  const db::ToolchainId toolchain = keep(store, toolchain_row(back_end));
  const db::ProtocolId protocol_id = db::keep_protocol(store, print(protocol));

  Run run{.store = store,
          .device = probe.device,
          .device_id = device,
          .toolchain_id = toolchain,
          .protocol_id = protocol_id,
          .id = begin(store, options, probe.conditions, {device, toolchain, protocol_id}),
          .objects = objects,
          .builds = builds,
          .measurer = workers.measurer,
          .reader = &workers.reader,
          .progress = progress,
          .stop_request = stop_request,
          .budget = Budget(options.budget_s),
          .limits = limits,
          .started = started,
          .seed = options.seed,
          .most_candidates = options.most_candidates};
  if (recovery.interrupted_runs > 0)
    run.note("resumed", fmt::format("resuming after an interrupted run: {} suspects are tried once more, {} are given up", recovery.suspects, recovery.crashed));
  try {
    const TuneOutcome outcome = work(run, workers, options);
    end_run(store, run.id, outcome.stopped == StopRequest::leave ? "interrupted" : "done");
    return outcome;
  } catch (const std::exception& error) {
    record_event(store, run.id, "failed", error.what());
    end_run(store, run.id, "failed");
    throw;
  }
}

}  // namespace kiln::autotune
