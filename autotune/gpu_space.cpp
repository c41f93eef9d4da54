#include "autotune/gpu_space.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "schedules/spaces.h"

namespace kiln::autotune {

schedules::Space gpu_space(const WorkItem& item, const Device& gpu, Builds& builds) {
  auto space = schedules::space_for(*item.algorithm, item.problem, gpu);
  if (!space) {
    const std::string unmet = builds.unmet_requirement(item);
    throw UsageError(fmt::format("{}: no space of a GPU has schedules for it{}", print(item.problem), unmet.empty() ? "; --try brings your own" : ": " + unmet));
  }
  if (const auto empty = space->unsatisfiable()) throw UsageError(fmt::format("{}: {}", print(item.problem), *empty));
  return std::move(*space);
}

}  // namespace kiln::autotune
