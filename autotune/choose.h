// The decision for one problem as a row of the store: the verdict over its races, weighed with the demand. The session ends with it, and
// `kiln choose` makes it again after a pin, a ban or a merge.
#pragma once

#include <optional>

#include "db/choices.h"

namespace kiln::autotune {

// Something chosen by the verdict: `specialise` with its trial. Nothing: `keep_previous`, with the baseline of the latest race when there was one.
// `calls` are counted over `horizon_s`. Recorded unless the choice in force says the same (decision, trial, demand and reason); returns the choice
// that is then in force.
db::StoredChoice choose(db::Store& store, const db::ResultKey& key, std::optional<db::RunId> run, double calls, double horizon_s);

}  // namespace kiln::autotune
