// What a call of a GPU's kernels takes by three clocks, as a table.
#pragma once

#include <optional>
#include <string>

#include "autotune/cli/pages/json.h"
#include "autotune/measure/clocks.h"

namespace kiln::autotune::cli {

std::string print_clocks(const ClocksOutcome& candidate, const std::optional<ClocksOutcome>& baseline);
Json clocks_json(const ClocksOutcome& outcome);

}  // namespace kiln::autotune::cli
