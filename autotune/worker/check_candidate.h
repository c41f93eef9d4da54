// Is a candidate right? Bounds, two runs from different poison, guards, inputs, comparison, bits.
#pragma once

#include "autotune/measure/shared_page.h"
#include "autotune/worker/measured_device.h"
#include "autotune/worker/prepared_subject.h"

namespace kiln::autotune {

CheckOutcome check_candidate(PreparedSubject& subject, LoadedCandidate& build, const Candidate& candidate, const CheckOptions& options, SharedPage& page);

}  // namespace kiln::autotune
