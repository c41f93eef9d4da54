#include "db/status.h"

#include <algorithm>
#include <tuple>

#include "db/identities.h"

namespace kiln::db {
namespace {

using KeyOrder = std::tuple<ProblemId, DeviceId, ToolchainId, ProtocolId>;

KeyOrder order(const ResultKey& key) { return {key.problem, key.device, key.toolchain, key.protocol}; }

ResultKey read_key(const Statement& row) {
  return {row.id<ProblemId>(0), row.id<DeviceId>(1), row.id<ToolchainId>(2), row.id<ProtocolId>(3)};
}

// Candidates by their latest own outcome.
void add_outcomes(Store& store, std::optional<RunId> run, std::map<KeyOrder, ProblemStatus>& rows) {
  Statement row = store.connection().query(
      "SELECT problem_id, device_id, toolchain_id, protocol_id, word, count(*) FROM "
      "(SELECT t.problem_id, r.device_id, r.toolchain_id, r.protocol_id, CASE t.state WHEN 'done' THEN coalesce(t.reason, 'ok') ELSE t.state END AS word, "
      " row_number() OVER (PARTITION BY t.problem_id, t.schedule_id, r.device_id, r.toolchain_id, r.protocol_id ORDER BY t.trial_id DESC) AS place "
      " FROM trial t JOIN run r USING (run_id) WHERE r.origin = 'own' AND t.state <> 'planned' AND (?1 IS NULL OR t.run_id = ?1)) "
      "WHERE place = 1 GROUP BY 1, 2, 3, 4, 5",
      run);
  while (row.step()) {
    const ResultKey key = read_key(row);
    ProblemStatus& status = rows[order(key)];
    status.key = key;
    const std::string word = row.text(4);
    const int count = static_cast<int>(row.integer(5));
    if (word == "suspect") {
      status.suspects += count;
    } else if (word == "running") {
      status.running += count;
    } else {
      status.tried += count;
      if (word == "ok") status.ok += count;
      else status.rejected[word] += count;
    }
  }
}

void add_best(Store& store, std::optional<RunId> run, std::map<KeyOrder, ProblemStatus>& rows) {
  Statement row = store.connection().query(
      "SELECT c.problem_id, r.device_id, r.toolchain_id, c.protocol_id, min(m.ratio), max(c.stage IN ('final', 'revalidate') AND m.quality = 'clean') "
      "FROM race c JOIN measurement m USING (race_id) JOIN trial t ON t.trial_id = m.trial_id JOIN run r ON r.run_id = c.run_id "
      "WHERE r.origin = 'own' AND (t.state <> 'done' OR t.outcome = 'ok') AND (?1 IS NULL OR c.run_id = ?1) GROUP BY 1, 2, 3, 4",
      run);
  while (row.step()) {
    const auto found = rows.find(order(read_key(row)));
    if (found == rows.end()) continue;
    found->second.best_ratio = row.optional_real(4);
    found->second.has_clean_final = row.integer(5) != 0;
  }
}

}  // namespace

std::vector<ProblemStatus> problem_status(Store& store, std::optional<RunId> run) {
  std::map<KeyOrder, ProblemStatus> rows;
  add_outcomes(store, run, rows);
  add_best(store, run, rows);
  std::vector<ProblemStatus> found;
  for (auto& [key, status] : rows) {
    const ProblemRow row = problem(store, status.key.problem);
    status.operator_name = row.operator_name;
    status.problem = row.text;
    found.push_back(std::move(status));
  }
  return found;
}

std::vector<ResultKey> result_keys(Store& store, std::optional<DeviceId> device) {
  Statement row = store.connection().query(
      "SELECT problem_id, device_id, toolchain_id, protocol_id FROM "
      "(SELECT t.problem_id, r.device_id, r.toolchain_id, r.protocol_id, p.operator, p.text, "
      " row_number() OVER (PARTITION BY t.problem_id, r.device_id ORDER BY EXISTS (SELECT 1 FROM race c WHERE c.problem_id = t.problem_id "
      "   AND c.run_id = r.run_id AND c.stage IN ('final', 'revalidate')) DESC, r.run_id DESC) AS place "
      " FROM (SELECT DISTINCT problem_id, run_id FROM trial WHERE state = 'done') t JOIN run r USING (run_id) JOIN problem p USING (problem_id) "
      " WHERE r.origin = 'own' AND (?1 IS NULL OR r.device_id = ?1)) WHERE place = 1 ORDER BY operator, text, problem_id, device_id",
      device);
  std::vector<ResultKey> found;
  while (row.step()) found.push_back(read_key(row));
  return found;
}

std::vector<HistoryPoint> history(Store& store, RunId run) {
  Statement row = store.connection().query(
      "SELECT c.at, t.problem_id, t.schedule_id, s.origin, c.stage, m.ratio, m.quality FROM race c JOIN measurement m USING (race_id) "
      "JOIN trial t ON t.trial_id = m.trial_id JOIN schedule s USING (schedule_id) WHERE c.run_id = ?1 ORDER BY c.at, m.measurement_id",
      run);
  std::vector<HistoryPoint> found;
  while (row.step())
    found.push_back({row.text(0), row.id<ProblemId>(1), row.id<ScheduleId>(2), row.text(3), row.text(4), row.real(5), row.text(6)});
  return found;
}

}  // namespace kiln::db
