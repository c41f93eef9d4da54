#include "db/runs.h"

#include <fmt/format.h>

#include "db/uuid.h"
#include "dsl/error.h"

namespace kiln::db {
namespace {

constexpr double kSilence_s = 120;  // four heartbeats: after these a run elsewhere is taken for dead

constexpr const char* kSelectRun =
    "SELECT run_id, uuid, device_id, toolchain_id, protocol_id, kiln_git, driver, pid, pid_started, seed, budget_s, options, origin, state, started, "
    "heartbeat, ended FROM run ";

StoredRun read(const Statement& row) {
  return {row.id<RunId>(0),
          RunRow{.uuid = row.text(1),
                 .device = row.id<DeviceId>(2),
                 .toolchain = row.id<ToolchainId>(3),
                 .protocol = row.id<ProtocolId>(4),
                 .kiln_git = row.text(5),
                 .driver = row.text(6),
                 .process = {row.integer(7), row.text(8)},
                 .seed = row.integer(9),
                 .budget_s = row.optional_real(10),
                 .options = row.text(11)},
          row.text(12), row.text(13), row.text(14), row.text(15), row.optional_text(16)};
}

bool is_dead(Store& store, const StoredRun& run, const std::function<Liveness(const Process&)>& is_alive) {
  switch (is_alive(run.row.process)) {
    case Liveness::alive: return false;
    case Liveness::dead: return true;
    case Liveness::elsewhere: break;
  }
  return seconds_since_epoch(store.now()) - seconds_since_epoch(run.heartbeat) > kSilence_s;
}

std::vector<StoredRun> running_runs(Store& store) {
  Statement row = store.connection().query(std::string(kSelectRun) + "WHERE state = 'running' ORDER BY run_id DESC");
  std::vector<StoredRun> found;
  while (row.step()) found.push_back(read(row));
  return found;
}

// True for a trial t (of a run r) whose candidate another trial already left suspect.
constexpr const char* kIsSecondCrash =
    "EXISTS (SELECT 1 FROM trial s JOIN run rs ON rs.run_id = s.run_id JOIN run r ON r.run_id = trial.run_id "
    "WHERE s.problem_id = trial.problem_id AND s.schedule_id = trial.schedule_id AND s.state = 'suspect' AND s.trial_id < trial.trial_id "
    "AND rs.device_id = r.device_id AND rs.toolchain_id = r.toolchain_id) ";

}  // namespace

RunId begin_run(Store& store, const RunRow& row) {
  Transaction transaction = store.transaction("begin a run in");
  const std::string now = store.now();
  store.connection().run(
      "INSERT INTO run (uuid, origin, device_id, toolchain_id, protocol_id, kiln_git, driver, state, started, heartbeat, pid, pid_started, seed, "
      "budget_s, options) VALUES (?1, 'own', ?2, ?3, ?4, ?5, ?6, 'running', ?7, ?7, ?8, ?9, ?10, ?11, ?12)",
      row.uuid.empty() ? make_uuid() : row.uuid, row.device, row.toolchain, row.protocol, row.kiln_git, row.driver, now, row.process.pid,
      row.process.started, row.seed, row.budget_s, row.options);
  const auto id = static_cast<RunId>(store.connection().last_id());
  transaction.commit();
  return id;
}

void heartbeat(Store& store, RunId run) {
  Transaction transaction = store.transaction("note a heartbeat in");
  store.connection().run("UPDATE run SET heartbeat = ?2 WHERE run_id = ?1", run, store.now());
  transaction.commit();
}

void end_run(Store& store, RunId run, const std::string& state) {
  Transaction transaction = store.transaction("end a run in");
  // A check that passed goes with its trial: the candidate is proposed, and checked, again.
  store.connection().run("DELETE FROM verification WHERE trial_id IN (SELECT trial_id FROM trial WHERE run_id = ?1 AND state = 'planned' AND state <> 'done')",
                         run);
  store.connection().run("DELETE FROM trial WHERE run_id = ?1 AND state = 'planned' AND state <> 'done'", run);
  store.connection().run("UPDATE run SET state = ?2, ended = ?3, heartbeat = ?3 WHERE run_id = ?1", run, state, store.now());
  transaction.commit();
}

StoredRun run(Store& store, RunId id) {
  Statement row = store.connection().query(std::string(kSelectRun) + "WHERE run_id = ?1", id);
  if (!row.step()) throw DataError(fmt::format("there is no run {} in {}", static_cast<std::int64_t>(id), store.path()));
  return read(row);
}

std::optional<RunId> find_run(Store& store, const std::string& uuid_prefix) {
  Statement row = store.connection().query("SELECT run_id, uuid FROM run WHERE substr(uuid, 1, length(?1)) = ?1 ORDER BY run_id", uuid_prefix);
  std::vector<RunId> ids;
  std::string matches;
  while (row.step()) {
    ids.push_back(row.id<RunId>(0));
    matches += " " + row.text(1);
  }
  if (ids.size() > 1) throw UsageError(fmt::format("`{}` is the beginning of {} runs:{}; write more of it", uuid_prefix, ids.size(), matches));
  return ids.empty() ? std::nullopt : std::optional(ids.front());
}

std::vector<RunId> runs(Store& store) {
  Statement row = store.connection().query("SELECT run_id FROM run ORDER BY started DESC, run_id DESC");
  std::vector<RunId> ids;
  while (row.step()) ids.push_back(row.id<RunId>(0));
  return ids;
}

std::optional<RunId> running_run(Store& store) {
  for (const StoredRun& each : running_runs(store))
    if (!is_dead(store, each, liveness)) return each.id;
  return std::nullopt;
}

void record_event(Store& store, RunId run, const std::string& kind, const std::string& detail) {
  Transaction transaction = store.transaction("record an event in");
  store.connection().run("INSERT INTO run_event (run_id, at, kind, detail) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING", run, store.now(), kind, detail);
  transaction.commit();
}

std::vector<EventRow> events(Store& store, RunId run) {
  Statement row = store.connection().query("SELECT at, kind, detail FROM run_event WHERE run_id = ?1 ORDER BY at, kind, detail", run);
  std::vector<EventRow> found;
  while (row.step()) found.push_back({row.text(0), row.text(1), row.text(2)});
  return found;
}

Recovery recover(Store& store, const std::function<Liveness(const Process&)>& is_alive) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("look for interrupted runs in");
  Recovery recovery;
  for (const StoredRun& each : running_runs(store)) {
    if (!is_dead(store, each, is_alive)) continue;
    end_run(store, each.id, "interrupted");
    ++recovery.interrupted_runs;
  }
  const std::string orphaned = "WHERE state = 'running' AND state <> 'done' AND run_id IN (SELECT run_id FROM run WHERE state <> 'running') ";
  recovery.crashed = static_cast<int>(
      db.run("UPDATE trial SET state = 'done', outcome = 'rejected', reason = 'worker_crash', detail = 'its process ended twice while this candidate ran', "
             "ended = ?1 " + orphaned + "AND " + kIsSecondCrash, store.now()));
  // The first suspects of what has crashed twice are settled with it.
  db.run("UPDATE trial SET state = 'done', outcome = 'rejected', reason = 'worker_crash', detail = 'its process ended while this candidate ran', "
         "ended = ?1 WHERE state = 'suspect' AND state <> 'done' AND EXISTS (SELECT 1 FROM trial n JOIN run rn ON rn.run_id = n.run_id JOIN run r ON r.run_id = trial.run_id "
         "WHERE n.problem_id = trial.problem_id AND n.schedule_id = trial.schedule_id AND n.trial_id > trial.trial_id AND n.state = 'done' "
         "AND rn.device_id = r.device_id AND rn.toolchain_id = r.toolchain_id)", store.now());
  recovery.suspects = static_cast<int>(db.run("UPDATE trial SET state = 'suspect' " + orphaned));
  transaction.commit();
  return recovery;
}

void record_noise_floor(Store& store, RunId run, const NoiseFloor& floor) {
  Transaction transaction = store.transaction("record a noise floor in");
  store.connection().run("INSERT INTO noise_floor (run_id, at, p95_relative, load, steal) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING", run,
                         store.now(), floor.p95_relative, floor.load, floor.steal);
  transaction.commit();
}

std::vector<NoiseFloor> noise_floors(Store& store, RunId run) {
  Statement row = store.connection().query("SELECT at, p95_relative, load, steal FROM noise_floor WHERE run_id = ?1 ORDER BY at", run);
  std::vector<NoiseFloor> found;
  while (row.step()) found.push_back({row.text(0), row.real(1), row.optional_real(2), row.optional_real(3)});
  return found;
}

}  // namespace kiln::db
