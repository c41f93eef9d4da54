#include "autotune/search/predicted_cost.h"

#include <algorithm>
#include <map>
#include <string>

#include "dsl/footprint.h"
#include "dsl/footprint_read.h"

namespace kiln::autotune {
namespace {

constexpr double kFlopsPerLane = 4;  // two units, a multiplication and an addition each
// Bytes a cycle that a core brings into each cache. Rough: what counts is that each is several times dearer than the one before.
const std::map<std::string, double> kBytesPerCycle = {{"l1", 48}, {"l2", 24}, {"l3", 8}};

// Of `cores`, how many are at work on average over so many equal tasks.
double busy_cores(std::int64_t tasks, int cores) {
  const std::int64_t rounds = (tasks + cores - 1) / cores;
  return static_cast<double>(tasks) / static_cast<double>(std::max<std::int64_t>(1, rounds));
}

}  // namespace

std::optional<double> predicted_cost(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device) {
  const ClosedForms forms = read_footprint(algorithm, schedule, problem);
  if (!forms.tree) return std::nullopt;
  const auto operations = flops(*forms.tree);
  if (!operations) return std::nullopt;
  double cycles = *operations / (kFlopsPerLane * std::max(1, device.vector_bytes / 4));
  for (const auto& [name, memory] : caches_of(device)) {
    const auto crossing = traffic(*forms.tree, memory);
    if (!crossing) return std::nullopt;
    cycles += static_cast<double>(total(*crossing)) / kBytesPerCycle.at(name);
  }
  return cycles / busy_cores(std::max<std::int64_t>(1, parallel_tasks(*forms.tree).value_or(1)), std::max(1, device.cores));
}

}  // namespace kiln::autotune
