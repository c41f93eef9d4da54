#include "dsl/boundaries.h"

#include <algorithm>
#include <tuple>

#include "dsl/error.h"
#include "dsl/footprint_read.h"

namespace kiln {
namespace {

constexpr std::size_t kMostStages = 16;  // 65,536 schedules, about a minute

}  // namespace

std::vector<Boundaries> rank_boundaries(const Algorithm& algorithm, const Problem& problem, const std::vector<std::string>& stages,
                                        const ScheduleOfCuts& schedule_of, const Memory& memory) {
  KILN_CHECK(stages.size() <= kMostStages, "rank_boundaries was asked for " + std::to_string(stages.size()) + " stages");
  std::vector<Boundaries> ranked;
  for (std::size_t choice = 0; choice < std::size_t{1} << stages.size(); ++choice) {
    Boundaries cut;
    std::vector<bool> at_root;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      at_root.push_back((choice >> i & 1) != 0);
      if (at_root.back()) cut.at_root.push_back(stages[i]);
    }
    cut.schedule = schedule_of(at_root);
    const ClosedForms forms = read_footprint(algorithm, cut.schedule, problem);
    const auto crossing = forms.tree ? traffic(*forms.tree, memory) : std::nullopt;
    if (!crossing) continue;
    cut.kernels = forms.tree->kernels;
    cut.traffic_bytes = total(*crossing);
    cut.peak_live_bytes = peak_live_bytes(*forms.tree);
    ranked.push_back(std::move(cut));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Boundaries& a, const Boundaries& b) {
    return std::tuple(a.traffic_bytes, a.kernels.size()) < std::tuple(b.traffic_bytes, b.kernels.size());
  });
  return ranked;
}

}  // namespace kiln
