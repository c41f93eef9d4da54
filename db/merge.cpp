#include "db/merge.h"

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::db {
namespace {

// One table's way across. `copy` inserts what is missing here; `map` selects (other file's id, id here) by the natural key.
struct Step {
  const char* table;
  const char* copy;
  const char* map = nullptr;
};

// In an order in which every reference is mapped before it is used. "WHERE true" keeps SQLite's parser from reading ON as a join.
constexpr Step kIdentities[] = {
    // A bundle's references are of use to who measures it, and stay behind.
    {"artifact",
     "INSERT INTO artifact (hash, kind, bytes) SELECT hash, kind, bytes FROM other.artifact WHERE lower(hex(hash)) NOT IN "
     "(SELECT coalesce(json_extract(e.value, '$.hash'), '') FROM other.run r, json_each(r.options, '$.references') e) ON CONFLICT DO NOTHING"},
    {"algorithm",
     "INSERT INTO algorithm (digest, generator, text, contract, halide_version, json_hash) "
     "SELECT digest, generator, text, contract, halide_version, json_hash FROM other.algorithm WHERE true ON CONFLICT (digest) DO NOTHING",
     "SELECT o.algorithm_id, m.algorithm_id FROM other.algorithm o JOIN algorithm m USING (digest)"},
    {"problem",
     "INSERT INTO problem (digest, algorithm_id, operator, text, extents, params, orders, flops, bytes) "
     "SELECT o.digest, a.id, o.operator, o.text, o.extents, o.params, o.orders, o.flops, o.bytes FROM other.problem o "
     "JOIN map_algorithm a ON a.other_id = o.algorithm_id WHERE true ON CONFLICT (digest) DO NOTHING",
     "SELECT o.problem_id, m.problem_id FROM other.problem o JOIN problem m USING (digest)"},
    {"device",
     "INSERT INTO device (digest, kind, vendor, model, arch, text, units, l1_bytes, l2_bytes, l3_bytes, shared_bytes, memory_bytes) "
     "SELECT digest, kind, vendor, model, arch, text, units, l1_bytes, l2_bytes, l3_bytes, shared_bytes, memory_bytes FROM other.device WHERE true "
     "ON CONFLICT (digest) DO NOTHING",
     "SELECT o.device_id, m.device_id FROM other.device o JOIN device m USING (digest)"},
    {"toolchain", "INSERT INTO toolchain (digest, text) SELECT digest, text FROM other.toolchain WHERE true ON CONFLICT (digest) DO NOTHING",
     "SELECT o.toolchain_id, m.toolchain_id FROM other.toolchain o JOIN toolchain m USING (digest)"},
    {"protocol", "INSERT INTO protocol (text) SELECT text FROM other.protocol WHERE true ON CONFLICT (text) DO NOTHING",
     "SELECT o.protocol_id, m.protocol_id FROM other.protocol o JOIN protocol m USING (text)"},
    {"schedule",
     "INSERT INTO schedule (algorithm_id, digest, text, origin, numerics_class, space, space_version, point) "
     "SELECT a.id, o.digest, o.text, o.origin, o.numerics_class, o.space, o.space_version, o.point FROM other.schedule o "
     "JOIN map_algorithm a ON a.other_id = o.algorithm_id WHERE true ON CONFLICT (algorithm_id, digest) DO NOTHING",
     "SELECT o.schedule_id, m.schedule_id FROM other.schedule o JOIN map_algorithm a ON a.other_id = o.algorithm_id "
     "JOIN schedule m ON m.algorithm_id = a.id AND m.digest = o.digest"},
};

// A run that still runs there is over here: its process cannot be asked. One that measured a bundle belongs to who planned the bundle.
constexpr Step kRuns[] = {
    {"run",
     "INSERT INTO run (uuid, origin, device_id, toolchain_id, protocol_id, kiln_git, driver, state, started, heartbeat, ended, pid, pid_started, seed, "
     "budget_s, options) SELECT o.uuid, CASE WHEN temp.merge_options.trust OR EXISTS (SELECT 1 FROM run h WHERE h.origin = 'own' "
     "AND h.uuid = json_extract(o.options, '$.bundle')) THEN 'own' ELSE 'foreign' END, d.id, t.id, p.id, o.kiln_git, o.driver, "
     "CASE o.state WHEN 'running' THEN 'interrupted' ELSE o.state END, o.started, o.heartbeat, coalesce(o.ended, o.heartbeat), o.pid, o.pid_started, "
     "o.seed, o.budget_s, o.options FROM temp.merge_options, other.run o JOIN map_device d ON d.other_id = o.device_id "
     "JOIN map_toolchain t ON t.other_id = o.toolchain_id JOIN map_protocol p ON p.other_id = o.protocol_id WHERE true ON CONFLICT (uuid) DO NOTHING",
     "SELECT o.run_id, m.run_id FROM other.run o JOIN run m USING (uuid)"},
    {"run_event",
     "INSERT INTO run_event (run_id, at, kind, detail) SELECT r.id, o.at, o.kind, o.detail FROM other.run_event o "
     "JOIN map_run r ON r.other_id = o.run_id WHERE true ON CONFLICT DO NOTHING"},
    {"noise_floor",
     "INSERT INTO noise_floor (run_id, at, p95_relative, load, steal) SELECT r.id, o.at, o.p95_relative, o.load, o.steal FROM other.noise_floor o "
     "JOIN map_run r ON r.other_id = o.run_id WHERE true ON CONFLICT DO NOTHING"},
    {"build",
     "INSERT INTO build (key, schedule_id, toolchain_id, target, at, symbol, binary_hash, binary_bytes, actual, lower_ms, compile_ms, log, reason, asked, "
     "allowed, detail) SELECT o.key, s.id, t.id, o.target, o.at, o.symbol, o.binary_hash, o.binary_bytes, o.actual, o.lower_ms, o.compile_ms, o.log, "
     "o.reason, o.asked, o.allowed, o.detail FROM other.build o JOIN map_schedule s ON s.other_id = o.schedule_id "
     "JOIN map_toolchain t ON t.other_id = o.toolchain_id WHERE true ON CONFLICT (key) DO UPDATE SET at = excluded.at, target = excluded.target, "
     "symbol = excluded.symbol, binary_hash = excluded.binary_hash, binary_bytes = excluded.binary_bytes, actual = excluded.actual, "
     "lower_ms = excluded.lower_ms, compile_ms = excluded.compile_ms, log = excluded.log, reason = NULL, asked = NULL, allowed = NULL, detail = NULL "
     "WHERE build.binary_hash IS NULL AND excluded.binary_hash IS NOT NULL",
     "SELECT o.build_id, m.build_id FROM other.build o JOIN build m USING (key)"},
    {"build_problem",
     "INSERT INTO build_problem (build_id, problem_id, at, predicted, reason, asked, allowed, detail, device_id) "
     "SELECT b.id, p.id, o.at, o.predicted, o.reason, o.asked, o.allowed, o.detail, d.id FROM other.build_problem o "
     "JOIN map_build b ON b.other_id = o.build_id JOIN map_problem p ON p.other_id = o.problem_id "
     "LEFT JOIN map_device d ON d.other_id = o.device_id WHERE true ON CONFLICT DO NOTHING"},
};

// Only finished trials cross; one that was planned here and done there is finished here.
constexpr Step kResults[] = {
    {"trial",
     "INSERT INTO trial (run_id, problem_id, schedule_id, attempt, build_id, state, outcome, reason, asked, allowed, detail, planned, started, ended) "
     "SELECT r.id, p.id, s.id, o.attempt, b.id, o.state, o.outcome, o.reason, o.asked, o.allowed, o.detail, o.planned, o.started, o.ended "
     "FROM other.trial o JOIN map_run r ON r.other_id = o.run_id JOIN map_problem p ON p.other_id = o.problem_id "
     "JOIN map_schedule s ON s.other_id = o.schedule_id LEFT JOIN map_build b ON b.other_id = o.build_id WHERE o.state = 'done' "
     "ON CONFLICT (run_id, problem_id, schedule_id, attempt) DO UPDATE SET build_id = excluded.build_id, state = excluded.state, "
     "outcome = excluded.outcome, reason = excluded.reason, asked = excluded.asked, allowed = excluded.allowed, detail = excluded.detail, "
     "started = excluded.started, ended = excluded.ended WHERE trial.state <> 'done'",
     "SELECT o.trial_id, m.trial_id FROM other.trial o JOIN map_run r ON r.other_id = o.run_id JOIN map_problem p ON p.other_id = o.problem_id "
     "JOIN map_schedule s ON s.other_id = o.schedule_id JOIN trial m ON m.run_id = r.id AND m.problem_id = p.id AND m.schedule_id = s.id "
     "AND m.attempt = o.attempt WHERE o.state = 'done'"},
    {"verification",
     "INSERT INTO verification (trial_id, what, at, reference, tolerance, cases, max_error, worst_output, bit_exact, passed) "
     "SELECT t.id, o.what, o.at, o.reference, o.tolerance, o.cases, o.max_error, o.worst_output, o.bit_exact, o.passed FROM other.verification o "
     "JOIN map_trial t ON t.other_id = o.trial_id WHERE true ON CONFLICT DO NOTHING"},
    {"race",
     "INSERT INTO race (uuid, run_id, problem_id, protocol_id, stage, at, baseline_trial_id, incumbent_trial_id, floor) "
     "SELECT o.uuid, r.id, p.id, c.id, o.stage, o.at, b.id, i.id, o.floor FROM other.race o JOIN map_run r ON r.other_id = o.run_id "
     "JOIN map_problem p ON p.other_id = o.problem_id JOIN map_protocol c ON c.other_id = o.protocol_id "
     "JOIN map_trial b ON b.other_id = o.baseline_trial_id LEFT JOIN map_trial i ON i.other_id = o.incumbent_trial_id WHERE true "
     "ON CONFLICT (uuid) DO NOTHING",
     "SELECT o.race_id, m.race_id FROM other.race o JOIN race m USING (uuid)"},
    {"measurement",
     "INSERT INTO measurement (race_id, trial_id, samples, sample_count, q1_ns, median_ns, q3_ns, mad_ns, value_ns, ratio, ratio_lo, ratio_hi, quality, "
     "clock_mhz, memory_clock_mhz, temperature_c) SELECT c.id, t.id, o.samples, o.sample_count, o.q1_ns, o.median_ns, o.q3_ns, o.mad_ns, o.value_ns, "
     "o.ratio, o.ratio_lo, o.ratio_hi, o.quality, o.clock_mhz, o.memory_clock_mhz, o.temperature_c FROM other.measurement o "
     "JOIN map_race c ON c.other_id = o.race_id JOIN map_trial t ON t.other_id = o.trial_id WHERE true ON CONFLICT (race_id, trial_id) DO NOTHING"},
    // A check is worth as much as the run that made it; coverage does not name one, so a run of that problem has to be our own.
    {"coverage",
     "INSERT INTO coverage (build_id, problem_id, device_id, tier, extents, checked, max_error, at) "
     "SELECT b.id, p.id, d.id, o.tier, o.extents, o.checked, o.max_error, o.at FROM other.coverage o JOIN map_build b ON b.other_id = o.build_id "
     "JOIN map_problem p ON p.other_id = o.problem_id JOIN map_device d ON d.other_id = o.device_id WHERE EXISTS (SELECT 1 FROM map_run m "
     "JOIN run r ON r.run_id = m.id JOIN trial t ON t.run_id = r.run_id WHERE r.origin = 'own' AND r.device_id = d.id AND t.problem_id = p.id) "
     "ON CONFLICT DO NOTHING"},
    {"demand_source",
     "INSERT INTO demand_source (digest, application, at, window_start, window_end, horizon_s, overflow) "
     "SELECT digest, application, at, window_start, window_end, horizon_s, overflow FROM other.demand_source WHERE true ON CONFLICT (digest) DO NOTHING",
     "SELECT o.source_id, m.source_id FROM other.demand_source o JOIN demand_source m USING (digest)"},
    {"demand",
     "INSERT INTO demand (source_id, written, tier, problem_id, calls) SELECT s.id, o.written, o.tier, p.id, o.calls FROM other.demand o "
     "JOIN map_demand_source s ON s.other_id = o.source_id LEFT JOIN map_problem p ON p.other_id = o.problem_id WHERE true ON CONFLICT DO NOTHING"},
};

// The other file, attached for the length of a merge.
class Attached {
 public:
  Attached(Store& store, const std::string& path) : db_(store.connection()) {
    Attempt attempt(db_, fmt::format("merge {} into", path));
    db_.run("ATTACH ?1 AS other", path);
  }
  Attached(const Attached&) = delete;
  ~Attached() {
    try {
      db_.run("DETACH other");
    } catch (const DataError&) {
      // Closing the store closes the other file too.
    }
  }

 private:
  Connection& db_;
};

// Digests that mean one text here and another there: nothing of such a file can be trusted.
void require_same_texts(Connection& db, const std::string& other_path) {
  for (const char* table : {"algorithm", "problem", "device", "toolchain"}) {
    Statement row = db.query(fmt::format("SELECT lower(hex(m.digest)) FROM other.{0} o JOIN {0} m USING (digest) WHERE o.text <> m.text LIMIT 1", table));
    if (row.step())
      throw DataError(fmt::format("cannot merge {} into {}: {} {} stands for different texts in the two; they were written by different rules", other_path,
                                  db.path(), table, row.text(0).substr(0, 12)));
  }
}

void copy(Connection& db, const Step& step, MergeReport& report) {
  const std::int64_t added = db.run(step.copy);
  if (added > 0) report.added[step.table] = added;
  if (!step.map) return;
  db.run(fmt::format("CREATE TEMP TABLE map_{} (other_id INTEGER PRIMARY KEY, id INTEGER NOT NULL)", step.table));
  db.run(fmt::format("INSERT INTO map_{} (other_id, id) {}", step.table, step.map));
}

void drop_maps(Connection& db) {
  std::vector<std::string> names;
  for (Statement row = db.query("SELECT name FROM temp.sqlite_schema WHERE type = 'table'"); row.step();) names.push_back(row.text(0));
  for (const std::string& name : names) db.run(fmt::format("DROP TABLE temp.{}", name));
}

void copy_all(Connection& db, MergeReport& report) {
  std::int64_t last_schedule = 0;
  if (Statement row = db.query("SELECT coalesce(max(schedule_id), 0) FROM schedule"); row.step()) last_schedule = row.integer(0);
  for (const Step& step : kIdentities) copy(db, step, report);
  db.run("UPDATE schedule SET parent_id = (SELECT p.id FROM map_schedule s JOIN other.schedule o ON o.schedule_id = s.other_id "
         "JOIN map_schedule p ON p.other_id = o.parent_id WHERE s.id = schedule.schedule_id) WHERE schedule_id > ?1", last_schedule);
  for (const Step& step : kRuns) copy(db, step, report);
  for (const Step& step : kResults) copy(db, step, report);
}

void count_runs(Connection& db, MergeReport& report) {
  Statement row = db.query("SELECT m.origin, count(*) FROM map_run r JOIN run m ON m.run_id = r.id GROUP BY m.origin");
  while (row.step()) (row.text(0) == "own" ? report.own_runs : report.foreign_runs) = static_cast<int>(row.integer(1));
}

}  // namespace

MergeReport merge(Store& store, const std::string& other_path, const MergeOptions& options) {
  { const Store other(other_path, {.access = Access::read_only, .now = {}}); }  // its own errors: absent, damaged, another version
  Connection& db = store.connection();
  const Attached attached(store, other_path);
  MergeReport report;
  Transaction transaction(db, fmt::format("merge {} into", other_path));
  require_same_texts(db, other_path);
  db.run("CREATE TEMP TABLE merge_options (trust INTEGER NOT NULL)");
  db.run("INSERT INTO temp.merge_options (trust) VALUES (?1)", options.trust);
  if (options.trust)
    report.adopted_runs = static_cast<int>(
        db.run("UPDATE run SET origin = 'own' WHERE origin = 'foreign' AND uuid IN (SELECT uuid FROM other.run)"));
  copy_all(db, report);
  count_runs(db, report);
  drop_maps(db);
  transaction.commit();
  return report;
}

}  // namespace kiln::db
