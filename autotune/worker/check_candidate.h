// Is a candidate right? Bounds, two runs from different poison, guards, inputs, comparison, bits.
#pragma once

#include "autotune/measure/shared_page.h"
#include "autotune/worker/prepared_subject.h"

namespace kiln::autotune {

CheckOutcome check_candidate(PreparedSubject& subject, const generators::host::Loaded& build, const Candidate& candidate, const CheckOptions& options,
                             SharedPage& page);

// run_error with both numbers when the candidate asks for more than the case gives, or when its bounds query fails.
std::optional<generators::Rejection> find_bounds_rejection(const generators::host::Loaded& build, const Algorithm& algorithm, const Inputs& inputs,
                                                           SharedPage& page);

}  // namespace kiln::autotune
