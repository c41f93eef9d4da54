// Races: candidates measured interleaved, with baseline and incumbent among them. Times compare within a race only, as ratios.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store.h"

namespace kiln::db {

struct RaceRow {
  RunId run{};
  ProblemId problem{};
  ProtocolId protocol{};
  std::string stage;                  // screen · rank · final · revalidate
  TrialId baseline{};
  std::optional<TrialId> incumbent;   // absent: nothing was chosen before
  std::optional<double> floor;        // the A/A floor seen inside this race, relative
};

struct MeasurementRow {
  TrialId trial{};
  std::vector<float> samples_ns;      // raw, in the order taken
  double q1_ns = 0, median_ns = 0, q3_ns = 0, mad_ns = 0;
  double value_ns = 0;                // the protocol's statistic: lower quartile on a CPU, median on a GPU
  double ratio = 1, ratio_lo = 1, ratio_hi = 1;  // against the race's baseline, 95 %; ratio_hi may be infinite. The baseline's own are stored as 1
  std::string quality = "clean";      // clean · contended · throttled
  std::optional<double> clock_mhz, memory_clock_mhz, temperature_c;
};

// One commit: the race and all its measurements, the baseline's among them (DataError otherwise).
RaceId record_race(Store& store, const RaceRow& race, const std::vector<MeasurementRow>& measurements);

struct StoredRace {
  RaceId id{};
  std::string at;
  RaceRow row;
};
StoredRace race(Store& store, RaceId id);
std::vector<StoredRace> races(Store& store, ProblemId problem, DeviceId device, ProtocolId protocol);  // oldest first
std::vector<MeasurementRow> measurements(Store& store, RaceId race);           // with samples, in the order recorded

}  // namespace kiln::db
