#include "db/choices.h"

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::db {
namespace {

std::string select_choice(const char* from) {
  return std::string("SELECT c.choice_id, c.at, c.run_id, c.problem_id, c.device_id, c.toolchain_id, c.protocol_id, c.decision, c.trial_id, "
                     "c.baseline_trial_id, c.ratio, c.ratio_lo, c.ratio_hi, c.baseline_ns, c.value_ns, c.calls, c.horizon_s, c.serves, c.why, c.supersedes "
                     "FROM ") + from + " c ";
}

// The nearest choice with a trial, this one or one that it supersedes.
std::optional<TrialId> nearest_trial(Store& store, ChoiceId id) {
  Statement row = store.connection().query(
      "WITH RECURSIVE chain (choice_id, trial_id, supersedes, depth) AS "
      "(SELECT choice_id, trial_id, supersedes, 0 FROM choice WHERE choice_id = ?1 UNION ALL "
      " SELECT c.choice_id, c.trial_id, c.supersedes, chain.depth + 1 FROM choice c JOIN chain ON c.choice_id = chain.supersedes WHERE chain.trial_id IS NULL) "
      "SELECT trial_id FROM chain WHERE trial_id IS NOT NULL ORDER BY depth LIMIT 1",
      id);
  return row.step() ? std::optional(row.id<TrialId>(0)) : std::nullopt;
}

StoredChoice read(Store& store, const Statement& row) {
  StoredChoice choice{.id = row.id<ChoiceId>(0),
                      .at = row.text(1),
                      .row = {.run = row.optional_id<RunId>(2),
                              .key = {row.id<ProblemId>(3), row.id<DeviceId>(4), row.id<ToolchainId>(5), row.id<ProtocolId>(6)},
                              .decision = row.text(7),
                              .trial = row.optional_id<TrialId>(8),
                              .baseline = row.optional_id<TrialId>(9),
                              .ratio = row.optional_real(10),
                              .ratio_lo = row.optional_real(11),
                              .ratio_hi = row.optional_real(12),
                              .baseline_ns = row.optional_real(13),
                              .value_ns = row.optional_real(14),
                              .calls = row.optional_real(15),
                              .horizon_s = row.optional_real(16),
                              .serves = row.text(17),
                              .why = row.text(18)},
                      .supersedes = row.optional_id<ChoiceId>(19),
                      .serving_trial = std::nullopt};
  choice.serving_trial = choice.row.trial ? choice.row.trial : nearest_trial(store, choice.id);
  if (!choice.serving_trial) choice.serving_trial = choice.row.baseline;
  return choice;
}

std::vector<StoredChoice> read_all(Store& store, Statement rows) {
  std::vector<StoredChoice> found;
  while (rows.step()) found.push_back(read(store, rows));
  return found;
}

}  // namespace

ChoiceId record_choice(Store& store, const ChoiceRow& row) {
  Transaction transaction = store.transaction("record a choice in");
  const std::optional<StoredChoice> before = choice_in_force(store, row.key.problem, row.key.device);
  std::optional<ChoiceId> supersedes;
  if (before) supersedes = before->id;
  store.connection().run(
      "INSERT INTO choice (run_id, problem_id, device_id, toolchain_id, protocol_id, decision, trial_id, baseline_trial_id, ratio, ratio_lo, ratio_hi, "
      "baseline_ns, value_ns, calls, horizon_s, serves, why, at, supersedes) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
      row.run, row.key.problem, row.key.device, row.key.toolchain, row.key.protocol, row.decision, row.trial, row.baseline, row.ratio, row.ratio_lo,
      row.ratio_hi, row.baseline_ns, row.value_ns, row.calls, row.horizon_s, row.serves.empty() ? std::nullopt : std::optional(row.serves), row.why,
      store.now(), supersedes);
  const auto id = static_cast<ChoiceId>(store.connection().last_id());
  transaction.commit();
  return id;
}

std::vector<StoredChoice> choices_in_force(Store& store, std::optional<DeviceId> device) {
  return read_all(store, store.connection().query(select_choice("v_choice_in_force") +
                                                      "JOIN problem p USING (problem_id) WHERE ?1 IS NULL OR c.device_id = ?1 "
                                                      "ORDER BY p.operator, p.text, p.problem_id, c.device_id",
                                                  device));
}

std::optional<StoredChoice> choice_in_force(Store& store, ProblemId problem, DeviceId device) {
  std::vector<StoredChoice> found =
      read_all(store, store.connection().query(select_choice("v_choice_in_force") + "WHERE c.problem_id = ?1 AND c.device_id = ?2", problem, device));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<StoredChoice> choice_history(Store& store, ProblemId problem, DeviceId device) {
  return read_all(store, store.connection().query(
                             select_choice("choice") + "WHERE c.problem_id = ?1 AND c.device_id = ?2 ORDER BY c.choice_id DESC", problem, device));
}

std::vector<ServedBuild> served_builds(Store& store, std::optional<DeviceId> device) {
  std::vector<ServedBuild> served;
  for (StoredChoice& choice : choices_in_force(store, device)) {
    if (!choice.serving_trial) continue;
    const TrialRow row = trial(store, *choice.serving_trial);
    if (row.build) served.push_back({std::move(choice), row.id, *row.build, row.schedule});
  }
  return served;
}

// ---- rulings

RulingId record_ruling(Store& store, const Ruling& ruling) {
  if (ruling.why.empty()) throw UsageError(fmt::format("a {} needs its reason: add --why \"…\"", ruling.kind));
  Connection& db = store.connection();
  Transaction transaction = store.transaction("record a ruling in");
  db.run("UPDATE ruling SET lifted = ?5 WHERE lifted IS NULL AND problem_id = ?1 AND device_id IS ?2 "
         "AND (schedule_id = ?3 OR (kind = 'pin' AND ?4 = 'pin'))",
         ruling.problem, ruling.device, ruling.schedule, ruling.kind, store.now());
  db.run("INSERT INTO ruling (kind, problem_id, device_id, schedule_id, why, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)", ruling.kind, ruling.problem,
         ruling.device, ruling.schedule, ruling.why, store.now());
  const auto id = static_cast<RulingId>(db.last_id());
  transaction.commit();
  return id;
}

void lift_ruling(Store& store, RulingId id) {
  Transaction transaction = store.transaction("lift a ruling in");
  store.connection().run("UPDATE ruling SET lifted = ?2 WHERE ruling_id = ?1 AND lifted IS NULL", id, store.now());
  transaction.commit();
}

std::vector<Ruling> rulings_in_force(Store& store, ProblemId problem, DeviceId device) {
  Statement row = store.connection().query(
      "SELECT ruling_id, kind, problem_id, device_id, schedule_id, why, at FROM ruling WHERE problem_id = ?1 AND lifted IS NULL "
      "AND (device_id IS NULL OR device_id = ?2) ORDER BY ruling_id",
      problem, device);
  std::vector<Ruling> found;
  while (row.step())
    found.push_back({row.id<RulingId>(0), row.text(1), row.id<ProblemId>(2), row.optional_id<DeviceId>(3), row.id<ScheduleId>(4), row.text(5), row.text(6)});
  return found;
}

// ---- packages

PackageId record_package(Store& store, const PackageRow& row) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("record a package in");
  db.run("INSERT INTO package (at, set_name, abi_version, manifest, library_hash) VALUES (?1, ?2, ?3, ?4, ?5)", store.now(), row.set_name, row.abi_version,
         row.manifest, row.library);
  const auto id = static_cast<PackageId>(db.last_id());
  for (const PackageRow::Item& item : row.items)
    db.run("INSERT INTO package_item (package_id, choice_id, target, symbol, dispatch_rank) VALUES (?1, ?2, ?3, ?4, ?5)", id, item.choice, item.target,
           item.symbol, item.dispatch_rank);
  transaction.commit();
  return id;
}

}  // namespace kiln::db
