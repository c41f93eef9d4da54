// The decision for one problem as a row of the store: the verdict over its races, weighed with the demand. The session ends with it, and
// `kiln choose` makes it again after a pin, a ban or a merge.
#pragma once

#include <optional>

#include "db/choices.h"

namespace kiln::autotune {

struct Decision {
  db::StoredVerdict verdict;
  db::ChoiceRow row;
  bool is_contended = false;  // races were held, but no clean final: decision keep_previous
};

// Reads only. Something chosen: `specialise` with its trial. Nothing: `keep_previous`, with the baseline of the latest race when there was one.
// `horizon_s` is what the calls of the demand are counted over.
Decision decide(db::Store& store, const db::ResultKey& key, std::optional<db::RunId> run, double horizon_s);

// Records the row unless the choice in force already says the same (decision and trial). Returns whether it was recorded.
bool record_decision(db::Store& store, const Decision& decision);

}  // namespace kiln::autotune
