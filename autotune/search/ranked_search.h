// The search of a space whose cost tells good points from better ones: what the cost, corrected by what was measured, expects to be best comes first.
#pragma once

#include <memory>

#include "autotune/search/search.h"

namespace kiln::autotune {

// Needs plan.cost. In turn: of eight proposals four are expected to be the best, apart from each other; three are seeds, those that the cost does not think far
// behind, and when they are through a step from one of the best points measured; one is a draw. Ends with the space.
std::unique_ptr<Search> make_ranked_search(schedules::Space space, const SearchPlan& plan);

}  // namespace kiln::autotune
