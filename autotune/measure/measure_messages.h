// Requests to the measuring worker and its answers, as JSON.
#pragma once

#include <vector>

#include "autotune/measurer.h"
#include "autotune/process/messages.h"

namespace kiln::autotune {

Json to_json(const Subject& subject, const std::string& algorithm_hash);
Subject subject_from_json(const Json& json, const Objects& objects);
// Names a subject: digest of everything that decides its inputs and its truth.
std::string subject_key(const Subject& subject);

Json to_json(const Prepared& prepared);
Prepared prepared_from_json(const Json& json);

Json to_json(const Candidate& candidate);
Candidate candidate_from_json(const Json& json);

Json to_json(const CheckOptions& options);
CheckOptions check_options_from_json(const Json& json);
Json to_json(const CheckOutcome& outcome);
CheckOutcome check_outcome_from_json(const Json& json);

Json to_json(const RaceEntry& entry);
RaceEntry race_entry_from_json(const Json& json);
Json to_json(const RaceOptions& options);
RaceOptions race_options_from_json(const Json& json);
Json to_json(const RaceResult& result);
RaceResult race_result_from_json(const Json& json);

Json to_json(const ClocksOutcome& outcome);
ClocksOutcome clocks_outcome_from_json(const Json& json);

Json to_json(const FloorOutcome& outcome);
FloorOutcome floor_outcome_from_json(const Json& json);

}  // namespace kiln::autotune
