// Small questions to the store that several pages ask.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/choices.h"
#include "db/identities.h"
#include "db/runs.h"

namespace kiln::autotune::cli {

// A text that a run keeps about itself ("command" as typed, "conditions" of the machine); empty when it was not kept.
std::string option_of(const db::StoredRun& run, const char* name);

// The problems of the store that a text means: the same once what it leaves out is filled from the stored algorithm's estimates. Throws
// UsageError for a text that is no problem, or one that the store does not know, with those it does.
std::vector<db::ProblemId> problems_meant(db::Store& store, const std::string& text);

// The one candidate that a prefix of its digest means. A schedule that was tried on several problems needs `problem` to tell them apart:
// UsageError listing them otherwise.
db::CandidateName one_candidate(db::Store& store, const std::string& prefix, const std::string& problem);

// Every problem that the prefix's schedule was tried on, or only those meant by `problem` when it is not empty.
std::vector<db::CandidateName> candidates_meant(db::Store& store, const std::string& prefix, const std::string& problem);

}  // namespace kiln::autotune::cli
