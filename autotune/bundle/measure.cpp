#include "autotune/bundle/measure.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "autotune/bundle/packed_builds.h"
#include "autotune/conduct.h"
#include "autotune/probe.h"
#include "autotune/process/device_lock.h"
#include "autotune/records.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

std::string store_of(const std::filesystem::path& folder) {
  const std::filesystem::path store = folder / kBundleStore;
  if (!std::filesystem::exists(store))
    throw DataError(fmt::format("{} is no bundle: it holds no {}; `kiln bundle -o DIR` makes bundles", folder.string(), kBundleStore));
  return store.string();
}

// A cubin runs on one architecture; the GPUs of one architecture may differ in size, and then results are of the one that measured.
void require_architecture(const Device& here, const BundlePlan& plan, const MeasureOptions& options) {
  if (here.gpu && here.gpu->arch == plan.device.gpu->arch) return;
  const std::string what = here.gpu ? fmt::format("{} ({})", here.model, here.gpu->arch) : "a CPU";
  throw EnvironmentError(fmt::format("{} is {}; the kernels of {} are for {}, as {} is: --device takes another GPU of this machine, `kiln bundle --device` "
                                     "makes kernels for others",
                                     options.device, what, options.folder.string(), plan.device.gpu->arch, plan.device.model));
}

db::RunRow row_of(const RunKey& key, const BundlePlan& plan, const MeasureOptions& options, const Conditions& conditions) {
  db::RunRow row = run_row(key, conditions, plan.seed, options.command);
  nlohmann::json kept = nlohmann::json::parse(row.options);
  kept["bundle"] = plan.uuid;  // whoever planned it takes this run's results for its own
  row.options = kept.dump();
  row.budget_s = options.budget_s;
  return row;
}

TuneOutcome work(Run& run, const BundlePlan& plan) {
  TuneOutcome outcome;
  outcome.run = db::run(run.store, run.id).row.uuid;
  std::vector<Tuning> tunings;
  for (const WorkItem& item : plan.items) tunings.emplace_back(run, item);
  outcome.problems = static_cast<int>(tunings.size());
  std::vector<Tuning> ready = prepare(run, tunings, outcome);
  if (run.stop_request() != StopRequest::leave) {
    search(run, ready);
    finals(run, ready, 0, outcome);
  }
  conclude_run(run, 0, outcome);
  return outcome;
}

}  // namespace

TuneOutcome measure(const MeasureOptions& options, Progress& progress, const std::function<StopRequest()>& stop_request) {
  const auto started = Clock::now();
  db::Store store(store_of(options.folder), {.access = db::Access::read_write, .now = {}});
  const BundlePlan plan = read_plan(store);
  const Probe probe = autotune::probe(options.launch, options.device);
  require_architecture(probe.device, plan, options);
  const DeviceLock lock(digest(probe.device), options.command, DeviceLock::default_folder(), options.wait,
                        [&](const std::string& text) { progress.note(text); }, [&] { return stop_request() != StopRequest::go_on; });
  const db::Recovery recovery = recover(store);
  if (digest(probe.device) != digest(plan.device))
    progress.note(fmt::format("planned for {}, measured on {}: results are kept under the latter", plan.device.model, probe.device.model));

  const Objects objects(options.cache_folder.empty() ? std::filesystem::path(db::cache_folder(store.path())) : options.cache_folder);
  const Limits limits = limits_of(options.budget_s, plan.items.size());
  Measurer measurer(probe.device, plan.protocol, objects, {.prepare_s = limits.reference_s}, options.launch);
  PackedBuilds builds(plan);
  const RunKey key{keep(store, device_row(probe.device)), plan.toolchain, db::keep_protocol(store, print(plan.protocol))};
  Run run{.store = store,
          .device = probe.device,
          .device_id = key.device,
          .toolchain_id = key.toolchain,
          .protocol_id = key.protocol,
          .id = begin_run(store, row_of(key, plan, options, probe.conditions)),
          .objects = objects,
          .builds = builds,
          .measurer = measurer,
          .progress = progress,
          .stop_request = stop_request,
          .budget = Budget(options.budget_s),
          .limits = limits,
          .started = started,
          .seed = plan.seed};
  if (recovery.interrupted_runs > 0)
    run.note("resumed", fmt::format("resuming after an interrupted run: {} suspects are tried once more, {} are given up", recovery.suspects,
                                    recovery.crashed));
  try {
    const TuneOutcome outcome = work(run, plan);
    end_run(store, run.id, outcome.stopped == StopRequest::leave ? "interrupted" : "done");
    return outcome;
  } catch (const std::exception& error) {
    record_event(store, run.id, "failed", error.what());
    end_run(store, run.id, "failed");
    throw;
  }
}

}  // namespace kiln::autotune
