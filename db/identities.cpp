#include "db/identities.h"

#include <fmt/format.h>

#include "db/artifacts.h"
#include "dsl/error.h"

namespace kiln::db {
namespace {

// Found under this digest: is it what was meant? Equal digests of unequal texts mean that one of them was made by other rules.
void require_same(const Store& store, const char* table, const Digest& digest, const std::string& stored, const std::string& given) {
  if (stored == given) return;
  throw DataError(fmt::format("{} {} stands for two texts in {}: stored is \"{}\", now asked for is \"{}\"; use the program that wrote the store, or "
                              "another file", table, digest.short_hex(), store.path(), stored, given));
}

[[noreturn]] void fail_unknown(const Store& store, const char* table, std::int64_t id) {
  throw DataError(fmt::format("there is no {} {} in {}", table, id, store.path()));
}

std::optional<std::string> null_if_empty(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

}  // namespace

// ---- algorithm

AlgorithmId keep(Store& store, const AlgorithmRow& row) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("keep an algorithm in");
  Statement found = db.query("SELECT algorithm_id, text, halide_version FROM algorithm WHERE digest = ?1", row.digest);
  AlgorithmId id{};
  if (found.step()) {
    id = found.id<AlgorithmId>(0);
    require_same(store, "algorithm", row.digest, found.text(1), row.text);
    if (found.text(2) != row.halide_version)
      db.run("UPDATE algorithm SET halide_version = ?2, json_hash = ?3 WHERE algorithm_id = ?1", id, row.halide_version,
             put_artifact(store, "algorithm", row.json));
  } else {
    db.run("INSERT INTO algorithm (digest, generator, text, contract, halide_version, json_hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)", row.digest,
           row.generator, row.text, row.contract, row.halide_version, put_artifact(store, "algorithm", row.json));
    id = static_cast<AlgorithmId>(db.last_id());
  }
  transaction.commit();
  return id;
}

AlgorithmRow algorithm(Store& store, AlgorithmId id) {
  Statement row = store.connection().query(
      "SELECT digest, generator, text, contract, halide_version, json_hash FROM algorithm WHERE algorithm_id = ?1", id);
  if (!row.step()) fail_unknown(store, "algorithm", static_cast<std::int64_t>(id));
  const Digest json = row.digest(5);
  const std::optional<std::string> bytes = get_artifact(store, json);
  if (!bytes) throw DataError(fmt::format("algorithm {} in {} has lost its artifact {}", row.digest(0).short_hex(), store.path(), json.short_hex()));
  return {row.digest(0), row.text(1), row.text(2), row.text(3), row.text(4), *bytes};
}

std::optional<AlgorithmId> find_algorithm(Store& store, const Digest& digest) {
  Statement row = store.connection().query("SELECT algorithm_id FROM algorithm WHERE digest = ?1", digest);
  return row.step() ? std::optional(row.id<AlgorithmId>(0)) : std::nullopt;
}

// ---- problem

ProblemId keep(Store& store, const ProblemRow& row) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("keep a problem in");
  Statement found = db.query("SELECT problem_id, text FROM problem WHERE digest = ?1", row.digest);
  ProblemId id{};
  if (found.step()) {
    id = found.id<ProblemId>(0);
    require_same(store, "problem", row.digest, found.text(1), row.text);
  } else {
    db.run("INSERT INTO problem (digest, algorithm_id, operator, text, extents, params, orders, flops, bytes) "
           "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
           row.digest, row.algorithm, row.operator_name, row.text, row.extents, row.params, row.orders, row.flops, row.bytes);
    id = static_cast<ProblemId>(db.last_id());
  }
  transaction.commit();
  return id;
}

ProblemRow problem(Store& store, ProblemId id) {
  Statement row = store.connection().query(
      "SELECT digest, algorithm_id, operator, text, extents, params, orders, flops, bytes FROM problem WHERE problem_id = ?1", id);
  if (!row.step()) fail_unknown(store, "problem", static_cast<std::int64_t>(id));
  return {row.digest(0), row.id<AlgorithmId>(1), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6), row.optional_real(7), row.optional_real(8)};
}

std::optional<ProblemId> find_problem(Store& store, const Digest& digest) {
  Statement row = store.connection().query("SELECT problem_id FROM problem WHERE digest = ?1", digest);
  return row.step() ? std::optional(row.id<ProblemId>(0)) : std::nullopt;
}

std::vector<ProblemId> problems(Store& store, const std::string& operator_name) {
  Statement row = store.connection().query("SELECT problem_id FROM problem WHERE ?1 = '' OR operator = ?1 ORDER BY operator, problem_id", operator_name);
  std::vector<ProblemId> ids;
  while (row.step()) ids.push_back(row.id<ProblemId>(0));
  return ids;
}

// ---- device, toolchain, protocol

DeviceId keep(Store& store, const DeviceRow& row) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("keep a device in");
  Statement found = db.query("SELECT device_id, text FROM device WHERE digest = ?1", row.digest);
  DeviceId id{};
  if (found.step()) {
    id = found.id<DeviceId>(0);
    require_same(store, "device", row.digest, found.text(1), row.text);
  } else {
    db.run("INSERT INTO device (digest, kind, vendor, model, arch, text, units, l1_bytes, l2_bytes, l3_bytes, shared_bytes, memory_bytes) "
           "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
           row.digest, row.kind, row.vendor, row.model, row.arch, row.text, row.units, row.l1_bytes, row.l2_bytes, row.l3_bytes, row.shared_bytes,
           row.memory_bytes);
    id = static_cast<DeviceId>(db.last_id());
  }
  transaction.commit();
  return id;
}

DeviceRow device(Store& store, DeviceId id) {
  Statement row = store.connection().query(
      "SELECT digest, kind, vendor, model, arch, text, units, l1_bytes, l2_bytes, l3_bytes, shared_bytes, memory_bytes FROM device WHERE device_id = ?1",
      id);
  if (!row.step()) fail_unknown(store, "device", static_cast<std::int64_t>(id));
  return {row.digest(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), row.integer(6), row.optional_integer(7),
          row.optional_integer(8), row.optional_integer(9), row.optional_integer(10), row.optional_integer(11)};
}

std::vector<DeviceId> devices(Store& store) {
  Statement row = store.connection().query("SELECT device_id FROM device ORDER BY device_id");
  std::vector<DeviceId> ids;
  while (row.step()) ids.push_back(row.id<DeviceId>(0));
  return ids;
}

ToolchainId keep(Store& store, const ToolchainRow& row) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("keep a toolchain in");
  db.run("INSERT INTO toolchain (digest, text) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING", row.digest, row.text);
  Statement found = db.query("SELECT toolchain_id, text FROM toolchain WHERE digest = ?1", row.digest);
  found.step();
  require_same(store, "toolchain", row.digest, found.text(1), row.text);
  const auto id = found.id<ToolchainId>(0);
  transaction.commit();
  return id;
}

ToolchainRow toolchain(Store& store, ToolchainId id) {
  Statement row = store.connection().query("SELECT digest, text FROM toolchain WHERE toolchain_id = ?1", id);
  if (!row.step()) fail_unknown(store, "toolchain", static_cast<std::int64_t>(id));
  return {row.digest(0), row.text(1)};
}

ProtocolId keep_protocol(Store& store, const std::string& text) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("keep a protocol in");
  db.run("INSERT INTO protocol (text) VALUES (?1) ON CONFLICT (text) DO NOTHING", text);
  Statement found = db.query("SELECT protocol_id FROM protocol WHERE text = ?1", text);
  found.step();
  const auto id = found.id<ProtocolId>(0);
  transaction.commit();
  return id;
}

std::string protocol(Store& store, ProtocolId id) {
  Statement row = store.connection().query("SELECT text FROM protocol WHERE protocol_id = ?1", id);
  if (!row.step()) fail_unknown(store, "protocol", static_cast<std::int64_t>(id));
  return row.text(0);
}

// ---- schedule

ScheduleId keep(Store& store, const ScheduleRow& row) {
  Connection& db = store.connection();
  Transaction transaction = store.transaction("keep a schedule in");
  Statement found = db.query("SELECT schedule_id, text FROM schedule WHERE algorithm_id = ?1 AND digest = ?2", row.algorithm, row.digest);
  ScheduleId id{};
  if (found.step()) {
    id = found.id<ScheduleId>(0);
    require_same(store, "schedule", row.digest, found.text(1), row.text);
  } else {
    std::optional<std::int64_t> version;
    if (!row.space.empty()) version = row.space_version;
    db.run("INSERT INTO schedule (algorithm_id, digest, text, origin, numerics_class, space, space_version, point, parent_id) "
           "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
           row.algorithm, row.digest, row.text, row.origin, row.numerics_class, null_if_empty(row.space), version, null_if_empty(row.point), row.parent);
    id = static_cast<ScheduleId>(db.last_id());
  }
  transaction.commit();
  return id;
}

ScheduleRow schedule(Store& store, ScheduleId id) {
  Statement row = store.connection().query(
      "SELECT digest, algorithm_id, text, origin, numerics_class, space, space_version, point, parent_id FROM schedule WHERE schedule_id = ?1", id);
  if (!row.step()) fail_unknown(store, "schedule", static_cast<std::int64_t>(id));
  return {row.digest(0), row.id<AlgorithmId>(1), row.text(2), row.text(3), row.text(4), row.text(5), static_cast<int>(row.integer(6)), row.text(7),
          row.optional_id<ScheduleId>(8)};
}

std::optional<ScheduleId> find_schedule(Store& store, AlgorithmId algorithm, const Digest& digest) {
  Statement row = store.connection().query("SELECT schedule_id FROM schedule WHERE algorithm_id = ?1 AND digest = ?2", algorithm, digest);
  return row.step() ? std::optional(row.id<ScheduleId>(0)) : std::nullopt;
}

// ---- names that users type

namespace {

// The half-open range of digests that begin with these hex digits, as blobs that compare like them.
struct PrefixRange {
  std::string low, high;  // inclusive
};

PrefixRange prefix_range(const std::string& prefix) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  PrefixRange range;
  for (std::size_t i = 0; i < 64; i += 2) {
    const int high_low = i < prefix.size() ? digit(prefix[i]) : 0, low_low = i + 1 < prefix.size() ? digit(prefix[i + 1]) : 0;
    const int high_high = i < prefix.size() ? digit(prefix[i]) : 15, low_high = i + 1 < prefix.size() ? digit(prefix[i + 1]) : 15;
    range.low += static_cast<char>(high_low * 16 + low_low);
    range.high += static_cast<char>(high_high * 16 + low_high);
  }
  return range;
}

void require_prefix(const std::string& prefix) {
  if (prefix.size() < 6 || prefix.size() > 64 || prefix.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw UsageError(fmt::format("`{}` names no candidate: write 6 to 64 of its hex digits (0-9, a-f), as `kiln best` shows them", prefix));
}

}  // namespace

std::vector<CandidateName> find_candidates(Store& store, const std::string& prefix) {
  require_prefix(prefix);
  const PrefixRange range = prefix_range(prefix);
  Statement row = store.connection().query(
      "SELECT DISTINCT s.schedule_id, t.problem_id, s.digest FROM schedule s JOIN trial t USING (schedule_id) WHERE s.digest BETWEEN ?1 AND ?2 "
      "UNION SELECT b.schedule_id, p.problem_id, s.digest FROM build b JOIN build_problem p USING (build_id) JOIN schedule s USING (schedule_id) "
      "WHERE b.key BETWEEN ?1 AND ?2 ORDER BY 3, 1, 2",
      Blob{range.low}, Blob{range.high});
  std::vector<CandidateName> names;
  std::vector<Digest> digests;
  while (row.step()) {
    names.push_back({row.id<ScheduleId>(0), row.id<ProblemId>(1)});
    if (digests.empty() || digests.back() != row.digest(2)) digests.push_back(row.digest(2));
  }
  if (names.empty()) throw UsageError(fmt::format("no candidate in {} begins with {}; `kiln best` lists them", store.path(), prefix));
  if (digests.size() > 1) {
    std::string matches;
    for (const Digest& digest : digests) matches += " " + digest.short_hex();
    throw UsageError(fmt::format("`{}` is the beginning of {} candidates:{}; write more digits", prefix, digests.size(), matches));
  }
  return names;
}

}  // namespace kiln::db
