#include "db/builds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dsl/error.h"

namespace kiln::db {
namespace {

// What the compiler did does not depend on the problem (an opaque schedule's key holds the extents); every other rejection may.
bool holds_for_every_problem(const RejectionRow& rejection) {
  constexpr std::array<std::string_view, 3> kReasonsOfTheKey{"compile_error", "compile_timeout", "compiler_crash"};
  return std::find(kReasonsOfTheKey.begin(), kReasonsOfTheKey.end(), rejection.reason) != kReasonsOfTheKey.end();
}

std::optional<std::string> null_if_empty(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

struct RejectionColumns {
  std::optional<std::string> reason;
  std::optional<double> asked, allowed;
  std::optional<std::string> text;
};

RejectionColumns columns(const std::optional<RejectionRow>& rejection) {
  if (!rejection) return {};
  return {rejection->reason, rejection->asked, rejection->allowed, rejection->text};
}

std::optional<RejectionRow> rejection(const Statement& row, int first) {
  if (row.is_null(first)) return std::nullopt;
  return RejectionRow{row.text(first), row.optional_real(first + 1), row.optional_real(first + 2), row.text(first + 3)};
}

// Key-level columns; an object once made is never forgotten.
BuildId upsert_key(Store& store, const BuildRow& row) {
  const bool is_key_level = row.rejection && !row.binary && holds_for_every_problem(*row.rejection);
  const RejectionColumns why = columns(is_key_level ? row.rejection : std::nullopt);
  Statement result = store.connection().query(
      "INSERT INTO build (key, schedule_id, toolchain_id, target, at, symbol, binary_hash, binary_bytes, actual, lower_ms, compile_ms, log, "
      "reason, asked, allowed, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) "
      "ON CONFLICT (key) DO UPDATE SET at = excluded.at, symbol = excluded.symbol, binary_hash = excluded.binary_hash, "
      "binary_bytes = excluded.binary_bytes, actual = excluded.actual, lower_ms = excluded.lower_ms, compile_ms = excluded.compile_ms, "
      "log = excluded.log, reason = excluded.reason, asked = excluded.asked, allowed = excluded.allowed, detail = excluded.detail "
      "WHERE binary_hash IS NULL RETURNING build_id",
      row.key, row.schedule, row.toolchain, row.target, store.now(), row.symbol, row.binary, row.binary_bytes, null_if_empty(row.actual), row.lower_ms,
      row.compile_ms, row.log, why.reason, why.asked, why.allowed, why.text);
  if (result.step()) {
    const auto id = result.id<BuildId>(0);
    result.step();
    return id;
  }
  Statement found = store.connection().query("SELECT build_id FROM build WHERE key = ?1", row.key);
  KILN_CHECK(found.step(), "a build that conflicts by its key is there");
  return found.id<BuildId>(0);
}

constexpr const char* kColumns =
    "b.build_id, b.key, b.schedule_id, b.toolchain_id, b.target, b.symbol, b.binary_hash, b.binary_bytes, p.predicted, b.actual, "
    "b.lower_ms, b.compile_ms, b.log, p.device_id, p.reason, p.asked, p.allowed, p.detail, b.reason, b.asked, b.allowed, b.detail, p.build_id "
    "FROM build b LEFT JOIN build_problem p ON p.build_id = b.build_id AND p.problem_id = ?2 ";

KnownBuild read(const Statement& row) {
  const bool is_linked = !row.is_null(22);
  return {row.id<BuildId>(0),
          BuildRow{.key = row.digest(1),
                   .schedule = row.id<ScheduleId>(2),
                   .toolchain = row.id<ToolchainId>(3),
                   .target = row.text(4),
                   .symbol = row.text(5),
                   .binary = row.optional_digest(6),
                   .binary_bytes = row.integer(7),
                   .predicted = row.text(8),
                   .actual = row.text(9),
                   .rejection = is_linked ? rejection(row, 14) : rejection(row, 18),
                   .decided_by = row.optional_id<DeviceId>(13),
                   .lower_ms = row.real(10),
                   .compile_ms = row.real(11),
                   .log = row.text(12)}};
}

}  // namespace

BuildId record_build(Store& store, ProblemId problem, const BuildRow& row) {
  Transaction transaction = store.transaction("record a build in");
  const BuildId id = upsert_key(store, row);
  const RejectionColumns why = columns(row.rejection);
  store.connection().run(
      "INSERT INTO build_problem (build_id, problem_id, at, predicted, reason, asked, allowed, detail, device_id) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (build_id, problem_id) DO UPDATE SET at = excluded.at, predicted = excluded.predicted, "
      "reason = excluded.reason, asked = excluded.asked, allowed = excluded.allowed, detail = excluded.detail, device_id = excluded.device_id",
      id, problem, store.now(), null_if_empty(row.predicted), why.reason, why.asked, why.allowed, why.text,
      row.rejection ? row.decided_by : std::nullopt);
  transaction.commit();
  return id;
}

std::optional<KnownBuild> find_build(Store& store, const Digest& key, ProblemId problem) {
  Statement row = store.connection().query(std::string("SELECT ") + kColumns + "WHERE b.key = ?1", key, problem);
  return row.step() ? std::optional(read(row)) : std::nullopt;
}

KnownBuild build(Store& store, BuildId id, ProblemId problem) {
  Statement row = store.connection().query(std::string("SELECT ") + kColumns + "WHERE b.build_id = ?1", id, problem);
  if (!row.step()) throw DataError(fmt::format("there is no build {} in {}", static_cast<std::int64_t>(id), store.path()));
  return read(row);
}

std::optional<SameBinary> find_same_binary(Store& store, const Digest& binary, ProblemId problem, DeviceId device, ProtocolId protocol) {
  Statement row = store.connection().query(
      "SELECT b.build_id, b.schedule_id, t.trial_id FROM build b JOIN trial t ON t.build_id = b.build_id AND t.problem_id = ?2 AND t.outcome = 'ok' "
      "JOIN run r ON r.run_id = t.run_id AND r.origin = 'own' AND r.device_id = ?3 "
      "WHERE b.binary_hash = ?1 AND EXISTS (SELECT 1 FROM measurement m JOIN race c USING (race_id) WHERE m.trial_id = t.trial_id AND c.protocol_id = ?4) "
      "ORDER BY t.trial_id LIMIT 1",
      binary, problem, device, protocol);
  if (!row.step()) return std::nullopt;
  return SameBinary{row.id<BuildId>(0), row.id<ScheduleId>(1), row.id<TrialId>(2)};
}

}  // namespace kiln::db
