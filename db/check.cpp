#include "db/check.h"

#include <fmt/format.h>

#include <filesystem>

#include "dsl/error.h"

namespace kiln::db {
namespace {

void check_integrity(Connection& db, std::vector<Finding>& findings) {
  Statement row = db.query("PRAGMA integrity_check(20)");
  while (row.step())
    if (row.text(0) != "ok") findings.push_back({"integrity", row.text(0)});
}

void check_foreign_keys(Connection& db, std::vector<Finding>& findings) {
  Statement row = db.query("PRAGMA foreign_key_check");
  while (row.step()) findings.push_back({"foreign_keys", fmt::format("row {} of {} refers to a {} that is not there", row.integer(1), row.text(0), row.text(2))});
}

void check_artifacts(Connection& db, std::vector<Finding>& findings) {
  Statement row = db.query("SELECT hash, kind, bytes FROM artifact");
  while (row.step())
    if (const Digest found = content_digest(row.blob(2)); found != row.digest(0))
      findings.push_back({"artifacts", fmt::format("{} {} has content with the digest {}", row.text(1), row.digest(0).short_hex(), found.short_hex())});
}

void check_digests(Connection& db, std::vector<Finding>& findings) {
  for (const char* table : {"algorithm", "device", "toolchain", "schedule"}) {
    Statement row = db.query(fmt::format("SELECT digest, text FROM {}", table));
    while (row.step())
      if (const Digest found = digest(table, row.text(1)); found != row.digest(0))
        findings.push_back({"digests", fmt::format("{} {} has a text with the digest {}", table, row.digest(0).short_hex(), found.short_hex())});
  }
  Statement row = db.query("SELECT p.digest, a.digest, p.text FROM problem p JOIN algorithm a USING (algorithm_id)");
  while (row.step())
    if (const Digest found = digest("problem", fmt::format("{}\n{}\n", row.digest(1).hex(), row.text(2))); found != row.digest(0))
      findings.push_back({"digests", fmt::format("problem {} has a text with the digest {}", row.digest(0).short_hex(), found.short_hex())});
}

// Each query returns one text a broken promise.
struct Promise {
  const char* check;
  const char* sql;
};
constexpr Promise kPromises[] = {
    {"races",
     "SELECT 'race ' || race_id || ' has no measurement of its baseline' FROM race c WHERE NOT EXISTS "
     "(SELECT 1 FROM measurement m WHERE m.race_id = c.race_id AND m.trial_id = c.baseline_trial_id)"},
    {"races",
     "SELECT 'race ' || c.race_id || ' gives its baseline the ratio ' || m.ratio FROM race c JOIN measurement m ON m.race_id = c.race_id "
     "AND m.trial_id = c.baseline_trial_id WHERE m.ratio <> 1"},
    {"races",
     "SELECT 'measurement ' || m.measurement_id || ' is of a trial on another device than its race' FROM measurement m JOIN race c USING (race_id) "
     "JOIN run rc ON rc.run_id = c.run_id JOIN trial t ON t.trial_id = m.trial_id JOIN run rt ON rt.run_id = t.run_id WHERE rt.device_id <> rc.device_id"},
    {"trials",
     "SELECT 'trial ' || t.trial_id || ' has a build that is not linked to its problem' FROM trial t WHERE t.build_id IS NOT NULL AND NOT EXISTS "
     "(SELECT 1 FROM build_problem p WHERE p.build_id = t.build_id AND p.problem_id = t.problem_id)"},
    {"trials",
     "SELECT 'trial ' || t.trial_id || ' is ok with a build that made no object' FROM trial t JOIN build b USING (build_id) "
     "WHERE t.outcome = 'ok' AND b.binary_hash IS NULL"},
    {"trials",
     "SELECT 'trial ' || t.trial_id || ' tries a schedule of another algorithm than its problem''s' FROM trial t JOIN problem p USING (problem_id) "
     "JOIN schedule s USING (schedule_id) WHERE p.algorithm_id <> s.algorithm_id"},
    {"choices",
     "SELECT 'choice ' || c.choice_id || ' is in force though its candidate failed a later check' FROM v_choice_in_force c WHERE EXISTS "
     "(SELECT 1 FROM verification v WHERE v.trial_id = c.trial_id AND v.passed = 0)"},
    {"choices",
     "SELECT 'choice ' || c.choice_id || ' is in force but its object is not in the store' FROM v_choice_in_force c JOIN trial t USING (trial_id) "
     "JOIN build b USING (build_id) WHERE NOT EXISTS (SELECT 1 FROM artifact a WHERE a.hash = b.binary_hash)"},
};

void check_promises(Connection& db, std::vector<Finding>& findings) {
  for (const Promise& promise : kPromises) {
    Statement row = db.query(promise.sql);
    while (row.step()) findings.push_back({promise.check, row.text(0)});
  }
}

}  // namespace

std::vector<Finding> check(Store& store) {
  Connection& db = store.connection();
  Attempt attempt(db, "check");
  std::vector<Finding> findings;
  check_integrity(db, findings);
  if (!findings.empty()) return findings;  // what the pages hold means nothing then
  check_foreign_keys(db, findings);
  check_artifacts(db, findings);
  check_digests(db, findings);
  check_promises(db, findings);
  return findings;
}

void backup(Store& store, const std::string& path) {
  if (std::filesystem::exists(path)) throw DataError(fmt::format("cannot copy {} to {}: it exists; name another file", store.path(), path));
  Attempt attempt(store.connection(), fmt::format("write {} as a copy of", path));
  store.connection().run("VACUUM INTO ?1", path);
}

void vacuum(Store& store) {
  Attempt attempt(store.connection(), "vacuum");
  store.connection().run("VACUUM");
  store.connection().run("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace kiln::db
