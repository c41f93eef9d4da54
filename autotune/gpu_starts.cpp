#include "autotune/gpu_starts.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "schedules/spaces.h"

namespace kiln::autotune {

std::vector<Wish> gpu_starts(const WorkItem& item, const Device& gpu, Builds& builds, const std::vector<Wish>& brought) {
  const auto space = schedules::space_for(*item.algorithm, item.problem, gpu);
  if (!space) {
    if (!brought.empty()) return brought;
    const std::string unmet = builds.unmet_requirement(item);
    throw UsageError(fmt::format("{}: no space of a GPU has schedules for it{}", print(item.problem), unmet.empty() ? "; --try brings your own" : ": " + unmet));
  }
  if (const auto empty = space->unsatisfiable()) throw UsageError(fmt::format("{}: {}", print(item.problem), *empty));
  std::vector<Wish> wishes;
  for (const schedules::Seed& seed : space->seeds()) wishes.push_back({space->schedule(seed.point), "seed", {}, {}, false});
  return wishes;
}

}  // namespace kiln::autotune
