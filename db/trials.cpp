#include "db/trials.h"

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::db {
namespace {

// A change that must hit exactly one trial in one of the states named; anything else is a mistake of the caller.
void require_changed(std::int64_t rows, TrialId trial, const char* what) {
  KILN_CHECK(rows == 1, fmt::format("trial {} cannot be {}: it does not exist or is not in a state for it", static_cast<std::int64_t>(trial), what));
}

// A retry's outcome settles the suspect that it retried.
void close_suspects(Store& store, TrialId trial) {
  store.connection().run(
      "UPDATE trial SET state = 'done', outcome = 'rejected', reason = 'worker_crash', detail = 'its process ended while this candidate ran', ended = ?2 "
      "WHERE state = 'suspect' AND trial_id IN (SELECT s.trial_id FROM trial t JOIN run r ON r.run_id = t.run_id "
      "JOIN trial s ON s.problem_id = t.problem_id AND s.schedule_id = t.schedule_id JOIN run rs ON rs.run_id = s.run_id "
      "WHERE t.trial_id = ?1 AND rs.device_id = r.device_id AND rs.toolchain_id = r.toolchain_id)",
      trial, store.now());
}

constexpr const char* kSelectTrial =
    "SELECT trial_id, run_id, problem_id, schedule_id, attempt, build_id, state, reason, asked, allowed, detail, planned, started, ended FROM trial ";

TrialRow read(const Statement& row) {
  std::optional<RejectionRow> rejection;
  if (!row.is_null(7)) rejection = RejectionRow{row.text(7), row.optional_real(8), row.optional_real(9), row.text(10)};
  return {.id = row.id<TrialId>(0),
          .run = row.id<RunId>(1),
          .problem = row.id<ProblemId>(2),
          .schedule = row.id<ScheduleId>(3),
          .attempt = static_cast<int>(row.integer(4)),
          .build = row.optional_id<BuildId>(5),
          .state = row.text(6),
          .rejection = std::move(rejection),
          .planned = row.text(11),
          .started = row.optional_text(12),
          .ended = row.optional_text(13)};
}

std::vector<TrialRow> read_all(Statement rows) {
  std::vector<TrialRow> found;
  while (rows.step()) found.push_back(read(rows));
  return found;
}

}  // namespace

TrialId plan_trial(Store& store, RunId run, ProblemId problem, ScheduleId schedule) {
  Transaction transaction = store.transaction("plan a trial in");
  store.connection().run(
      "INSERT INTO trial (run_id, problem_id, schedule_id, attempt, state, planned) SELECT ?1, ?2, ?3, 1 + coalesce(max(t.attempt), 0), 'planned', ?4 "
      "FROM trial t JOIN run r ON r.run_id = t.run_id, run n WHERE n.run_id = ?1 AND t.problem_id = ?2 AND t.schedule_id = ?3 "
      "AND (t.run_id = ?1 OR (t.state = 'suspect' AND r.device_id = n.device_id AND r.toolchain_id = n.toolchain_id))",
      run, problem, schedule, store.now());
  const auto id = static_cast<TrialId>(store.connection().last_id());
  transaction.commit();
  return id;
}

void attach_build(Store& store, TrialId trial, BuildId build) {
  Transaction transaction = store.transaction("record a trial's build in");
  require_changed(store.connection().run("UPDATE trial SET build_id = ?2 WHERE trial_id = ?1 AND state <> 'done'", trial, build), trial, "given a build");
  transaction.commit();
}

void start_trial(Store& store, TrialId trial) {
  Transaction transaction = store.transaction("start a trial in");
  require_changed(store.connection().run("UPDATE trial SET state = 'running', started = ?2 WHERE trial_id = ?1 AND state = 'planned'", trial, store.now()),
                  trial, "started");
  transaction.commit();
}

void requeue_trial(Store& store, TrialId trial) {
  Transaction transaction = store.transaction("requeue a trial in");
  require_changed(store.connection().run("UPDATE trial SET state = 'planned', started = NULL WHERE trial_id = ?1 AND state = 'running'", trial), trial,
                  "queued again");
  transaction.commit();
}

void finish_trial(Store& store, TrialId trial) {
  Transaction transaction = store.transaction("finish a trial in");
  close_suspects(store, trial);
  require_changed(store.connection().run("UPDATE trial SET state = 'done', outcome = 'ok', ended = ?2 WHERE trial_id = ?1 AND state <> 'done'", trial,
                                         store.now()),
                  trial, "finished");
  transaction.commit();
}

void reject_trial(Store& store, TrialId trial, const RejectionRow& rejection) {
  Transaction transaction = store.transaction("record a rejection in");
  close_suspects(store, trial);
  require_changed(store.connection().run("UPDATE trial SET state = 'done', outcome = 'rejected', reason = ?2, asked = ?3, allowed = ?4, detail = ?5, "
                                         "ended = ?6 WHERE trial_id = ?1 AND state <> 'done'",
                                         trial, rejection.reason, rejection.asked, rejection.allowed, rejection.text, store.now()),
                  trial, "rejected");
  transaction.commit();
}

TrialId record_rejected(Store& store, RunId run, ProblemId problem, ScheduleId schedule, std::optional<BuildId> build, const RejectionRow& rejection) {
  Transaction transaction = store.transaction("record a rejection in");
  const TrialId trial = plan_trial(store, run, problem, schedule);
  if (build) attach_build(store, trial, *build);
  reject_trial(store, trial, rejection);
  transaction.commit();
  return trial;
}

TrialRow trial(Store& store, TrialId id) {
  Statement row = store.connection().query(std::string(kSelectTrial) + "WHERE trial_id = ?1", id);
  if (!row.step()) throw DataError(fmt::format("there is no trial {} in {}", static_cast<std::int64_t>(id), store.path()));
  return read(row);
}

std::vector<TrialRow> trials(Store& store, RunId run) {
  return read_all(store.connection().query(std::string(kSelectTrial) + "WHERE run_id = ?1 ORDER BY trial_id", run));
}

std::vector<TrialRow> trials_of(Store& store, ProblemId problem, ScheduleId schedule) {
  return read_all(store.connection().query(std::string(kSelectTrial) + "WHERE problem_id = ?1 AND schedule_id = ?2 ORDER BY trial_id DESC", problem, schedule));
}

std::vector<DeviceId> devices_of(Store& store, ProblemId problem, ScheduleId schedule) {
  Statement row = store.connection().query(
      "SELECT r.device_id FROM trial t JOIN run r USING (run_id) WHERE t.problem_id = ?1 AND t.schedule_id = ?2 AND t.state <> 'planned' "
      "GROUP BY r.device_id ORDER BY max(t.trial_id) DESC",
      problem, schedule);
  std::vector<DeviceId> found;
  while (row.step()) found.push_back(row.id<DeviceId>(0));
  return found;
}

std::vector<Suspect> suspects(Store& store, DeviceId device, ToolchainId toolchain) {
  Statement row = store.connection().query(
      "SELECT t.trial_id, t.problem_id, t.schedule_id, t.attempt FROM trial t JOIN run r USING (run_id) "
      "WHERE t.state = 'suspect' AND t.state <> 'done' AND r.origin = 'own' AND r.device_id = ?1 AND r.toolchain_id = ?2 AND NOT EXISTS "
      "(SELECT 1 FROM trial n WHERE n.problem_id = t.problem_id AND n.schedule_id = t.schedule_id AND n.trial_id > t.trial_id AND "
      "n.state IN ('planned', 'running')) ORDER BY t.trial_id",
      device, toolchain);
  std::vector<Suspect> found;
  while (row.step()) found.push_back({row.id<TrialId>(0), row.id<ProblemId>(1), row.id<ScheduleId>(2), static_cast<int>(row.integer(3))});
  return found;
}

// d: the outcomes that count, the key's protocol first, then the latest. m: the candidate's latest measurement in its furthest stage.
std::vector<KnownOutcome> known_outcomes(Store& store, const ResultKey& key) {
  Statement row = store.connection().query(
      "WITH d AS (SELECT t.trial_id, t.schedule_id, t.build_id, t.reason, t.asked, t.allowed, t.detail, "
      "  row_number() OVER (PARTITION BY t.schedule_id ORDER BY r.protocol_id = ?4 DESC, t.trial_id DESC) AS place "
      "  FROM trial t JOIN run r USING (run_id) WHERE t.problem_id = ?1 AND r.device_id = ?2 AND r.toolchain_id = ?3 AND r.origin = 'own' "
      "  AND t.state = 'done' AND t.reason IS NOT 'device_lost' AND (r.protocol_id = ?4 OR t.outcome = 'ok' OR t.reason NOT IN "
      "  ('run_error', 'run_timeout', 'worker_crash', 'implausible', 'cut_slow', 'same_as_build'))) "
      "SELECT d.trial_id, d.schedule_id, s.digest, d.build_id, d.reason, d.asked, d.allowed, d.detail, c.stage, m.ratio, m.value_ns, m.quality "
      "FROM d JOIN schedule s USING (schedule_id) LEFT JOIN measurement m ON m.measurement_id = "
      "  (SELECT x.measurement_id FROM trial t JOIN run r USING (run_id) JOIN measurement x USING (trial_id) JOIN race y USING (race_id) "
      "   WHERE t.problem_id = ?1 AND t.schedule_id = d.schedule_id AND r.device_id = ?2 AND r.toolchain_id = ?3 AND r.origin = 'own' "
      "   AND y.protocol_id = ?4 ORDER BY CASE y.stage WHEN 'screen' THEN 1 WHEN 'rank' THEN 2 WHEN 'final' THEN 3 ELSE 4 END DESC, "
      "   x.measurement_id DESC LIMIT 1) "
      "LEFT JOIN race c ON c.race_id = m.race_id WHERE d.place = 1 ORDER BY d.trial_id",
      key.problem, key.device, key.toolchain, key.protocol);
  std::vector<KnownOutcome> found;
  while (row.step()) {
    KnownOutcome known;
    known.trial = row.id<TrialId>(0);
    known.schedule = row.id<ScheduleId>(1);
    known.digest = row.digest(2);
    known.build = row.optional_id<BuildId>(3);
    if (!row.is_null(4)) known.rejection = RejectionRow{row.text(4), row.optional_real(5), row.optional_real(6), row.text(7)};
    known.stage = row.text(8);
    known.ratio = row.optional_real(9);
    known.value_ns = row.optional_real(10);
    known.clean = row.text(11) == "clean";
    found.push_back(std::move(known));
  }
  return found;
}

std::vector<Hint> hints(Store& store, AlgorithmId algorithm) {
  Statement row = store.connection().query(
      "SELECT t.schedule_id, min(m.ratio) FROM schedule s JOIN trial t USING (schedule_id) JOIN run r USING (run_id) JOIN measurement m USING (trial_id) "
      "WHERE s.algorithm_id = ?1 AND r.origin = 'foreign' AND t.outcome = 'ok' GROUP BY t.schedule_id ORDER BY 2, s.digest",
      algorithm);
  std::vector<Hint> found;
  while (row.step()) found.push_back({row.id<ScheduleId>(0), row.real(1)});
  return found;
}

void record_verification(Store& store, TrialId trial, const VerificationRow& row) {
  Transaction transaction = store.transaction("record a check in");
  store.connection().run(
      "INSERT INTO verification (trial_id, what, at, reference, tolerance, cases, max_error, worst_output, bit_exact, passed) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING",
      trial, row.what, store.now(), row.reference, row.tolerance, row.cases, row.max_error,
      row.worst_output.empty() ? std::nullopt : std::optional(row.worst_output), row.bit_exact, row.passed);
  transaction.commit();
}

std::vector<VerificationRow> verifications(Store& store, TrialId trial) {
  Statement row = store.connection().query(
      "SELECT what, reference, tolerance, cases, passed, bit_exact, max_error, worst_output FROM verification WHERE trial_id = ?1 ORDER BY at", trial);
  std::vector<VerificationRow> found;
  while (row.step())
    found.push_back({row.text(0), row.text(1), row.text(2), static_cast<int>(row.integer(3)), row.integer(4) != 0, row.integer(5) != 0,
                     row.optional_real(6), row.text(7)});
  return found;
}

bool is_verified(Store& store, TrialId trial) {
  return store.connection().query("SELECT 1 FROM v_verified WHERE trial_id = ?1", trial).step();
}

}  // namespace kiln::db
