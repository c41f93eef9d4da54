// What serves extents that nobody tuned: bucket intervals of winners, and generic builds that are right for every extent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/builds.h"
#include "db/store.h"

namespace kiln::db {

struct CoverageRow {
  std::string tier;                      // bucket · generic
  BuildId build{};
  ProblemId problem{};                   // bucket: whose winner it is; generic: the problem it was built under
  DeviceId device{};                     // that checked it
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> extents;  // bucket: symbol -> least, most
  std::vector<std::string> checked;      // problems as text; at least one
  double max_error = 0;                  // of the worst output, as a multiple of its budget
};

// Replaces what was kept for the same build, problem, device and tier.
void record_coverage(Store& store, const CoverageRow& row);

// All rows of an algorithm's problems on a device, generic ones last; within a tier by problem and build.
std::vector<CoverageRow> coverage(Store& store, AlgorithmId algorithm, DeviceId device);

// Forgets the buckets of a problem on a device: its winner changed.
void drop_buckets(Store& store, ProblemId problem, DeviceId device);

}  // namespace kiln::db
