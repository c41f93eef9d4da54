// Runs: one invocation of the tuner on one device under one protocol, who it was, whether it still lives, and what disturbed it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/process.h"
#include "db/store.h"

namespace kiln::db {

struct RunRow {
  std::string uuid;               // empty: record_run makes one
  DeviceId device{};
  ToolchainId toolchain{};
  ProtocolId protocol{};
  std::string kiln_git, driver;   // may be empty
  Process process;
  std::int64_t seed = 0;
  std::optional<double> budget_s;
  std::string options = "{}";     // JSON: the command line as understood
};

struct StoredRun {
  RunId id{};
  RunRow row;
  std::string origin;             // own · foreign
  std::string state;              // running · done · interrupted · failed
  std::string started, heartbeat;
  std::optional<std::string> ended;
};

RunId begin_run(Store& store, const RunRow& row);
void heartbeat(Store& store, RunId run);                            // at least every 30 s: others judge a run elsewhere by it
void end_run(Store& store, RunId run, const std::string& state);    // done · interrupted · failed; drops trials that are only planned, their checks too
StoredRun run(Store& store, RunId id);
std::optional<RunId> find_run(Store& store, const std::string& uuid_prefix);  // UsageError when ambiguous
std::vector<RunId> runs(Store& store);                              // newest first
std::optional<RunId> running_run(Store& store);                     // the newest whose process lives

// Whatever changes how results are read: contended, throttled, worker replaced, device lost, resumed.
void record_event(Store& store, RunId run, const std::string& kind, const std::string& detail);
struct EventRow {
  std::string at, kind, detail;
};
std::vector<EventRow> events(Store& store, RunId run);

// Called at the start of a run. Runs whose process is dead (or elsewhere and silent for two minutes) become `interrupted`; of their
// trials, `planned` ones are dropped; a `running` one becomes `suspect`, or, when its candidate is suspect already, done: worker_crash.
struct Recovery {
  int interrupted_runs = 0;
  int suspects = 0;
  int crashed = 0;
};
Recovery recover(Store& store, const std::function<Liveness(const Process&)>& is_alive = liveness);

// The A/A test: relative differences below p95_relative cannot be seen.
struct NoiseFloor {
  std::string at;                  // filled by the store when recorded
  double p95_relative = 0;
  std::optional<double> load, steal;
};
void record_noise_floor(Store& store, RunId run, const NoiseFloor& floor);
std::vector<NoiseFloor> noise_floors(Store& store, RunId run);

}  // namespace kiln::db
