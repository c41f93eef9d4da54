#include "db/races.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "db/uuid.h"
#include "dsl/error.h"

namespace kiln::db {
namespace {

// Little-endian float32: the byte order of every target of Kiln.
std::string to_bytes(const std::vector<float>& samples) {
  std::string bytes(samples.size() * sizeof(float), '\0');
  if (!samples.empty()) std::memcpy(bytes.data(), samples.data(), bytes.size());
  return bytes;
}

std::vector<float> from_bytes(const std::string& bytes) {
  std::vector<float> samples(bytes.size() / sizeof(float));
  if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(float));
  return samples;
}

// An unbounded interval is NULL in the file, so that no query has to think about infinity.
std::optional<double> bounded(double ratio_hi) { return std::isinf(ratio_hi) ? std::nullopt : std::optional(ratio_hi); }
double unbounded(std::optional<double> ratio_hi) { return ratio_hi.value_or(std::numeric_limits<double>::infinity()); }

void insert(Store& store, RaceId race, const MeasurementRow& row) {
  const std::string samples = to_bytes(row.samples_ns);
  store.connection().run(
      "INSERT INTO measurement (race_id, trial_id, samples, sample_count, q1_ns, median_ns, q3_ns, mad_ns, value_ns, ratio, ratio_lo, ratio_hi, quality, "
      "clock_mhz, memory_clock_mhz, temperature_c) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
      race, row.trial, Blob{samples}, row.samples_ns.size(), row.q1_ns, row.median_ns, row.q3_ns, row.mad_ns, row.value_ns, row.ratio, row.ratio_lo,
      bounded(row.ratio_hi), row.quality, row.clock_mhz, row.memory_clock_mhz, row.temperature_c);
}

constexpr const char* kSelectRace =
    "SELECT c.race_id, c.at, c.run_id, c.problem_id, c.protocol_id, c.stage, c.baseline_trial_id, c.incumbent_trial_id, c.floor FROM race c ";

StoredRace read(const Statement& row) {
  return {row.id<RaceId>(0), row.text(1),
          RaceRow{.run = row.id<RunId>(2),
                  .problem = row.id<ProblemId>(3),
                  .protocol = row.id<ProtocolId>(4),
                  .stage = row.text(5),
                  .baseline = row.id<TrialId>(6),
                  .incumbent = row.optional_id<TrialId>(7),
                  .floor = row.optional_real(8)}};
}

}  // namespace

RaceId record_race(Store& store, const RaceRow& race, const std::vector<MeasurementRow>& measurements) {
  const bool has_baseline = std::any_of(measurements.begin(), measurements.end(), [&](const MeasurementRow& row) { return row.trial == race.baseline; });
  if (!has_baseline)
    throw DataError(fmt::format("cannot record a race in {}: none of its {} measurements is of its baseline, trial {}", store.path(), measurements.size(),
                                static_cast<std::int64_t>(race.baseline)));
  Transaction transaction = store.transaction("record a race in");
  store.connection().run(
      "INSERT INTO race (uuid, run_id, problem_id, protocol_id, stage, at, baseline_trial_id, incumbent_trial_id, floor) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
      make_uuid(), race.run, race.problem, race.protocol, race.stage, store.now(), race.baseline, race.incumbent, race.floor);
  const auto id = static_cast<RaceId>(store.connection().last_id());
  for (MeasurementRow row : measurements) {
    if (row.trial == race.baseline) row.ratio = row.ratio_lo = row.ratio_hi = 1;
    insert(store, id, row);
  }
  transaction.commit();
  return id;
}

StoredRace race(Store& store, RaceId id) {
  Statement row = store.connection().query(std::string(kSelectRace) + "WHERE c.race_id = ?1", id);
  if (!row.step()) throw DataError(fmt::format("there is no race {} in {}", static_cast<std::int64_t>(id), store.path()));
  return read(row);
}

std::vector<StoredRace> races(Store& store, ProblemId problem, DeviceId device, ProtocolId protocol) {
  Statement row = store.connection().query(
      std::string(kSelectRace) + "JOIN run r USING (run_id) WHERE c.problem_id = ?1 AND r.device_id = ?2 AND c.protocol_id = ?3 ORDER BY c.race_id", problem,
      device, protocol);
  std::vector<StoredRace> found;
  while (row.step()) found.push_back(read(row));
  return found;
}

std::vector<MeasurementRow> measurements(Store& store, RaceId race) {
  Statement row = store.connection().query(
      "SELECT trial_id, samples, q1_ns, median_ns, q3_ns, mad_ns, value_ns, ratio, ratio_lo, ratio_hi, quality, clock_mhz, memory_clock_mhz, temperature_c "
      "FROM measurement WHERE race_id = ?1 ORDER BY measurement_id",
      race);
  std::vector<MeasurementRow> found;
  while (row.step())
    found.push_back({.trial = row.id<TrialId>(0),
                     .samples_ns = from_bytes(row.blob(1)),
                     .q1_ns = row.real(2),
                     .median_ns = row.real(3),
                     .q3_ns = row.real(4),
                     .mad_ns = row.real(5),
                     .value_ns = row.real(6),
                     .ratio = row.real(7),
                     .ratio_lo = row.real(8),
                     .ratio_hi = unbounded(row.optional_real(9)),
                     .quality = row.text(10),
                     .clock_mhz = row.optional_real(11),
                     .memory_clock_mhz = row.optional_real(12),
                     .temperature_c = row.optional_real(13)});
  return found;
}

}  // namespace kiln::db
