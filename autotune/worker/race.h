// A race in the measuring worker: contenders on the same buffers, in rounds, baseline and incumbent in every one.
#pragma once

#include <functional>
#include <vector>

#include "autotune/measure/shared_page.h"
#include "autotune/worker/prepared_subject.h"
#include "autotune/worker/timed_kernel.h"

namespace kiln::autotune {

struct Contender {
  RaceEntry entry;
  generators::host::Loaded build;
};

struct RaceRequest {
  Protocol protocol;
  RaceOptions options;
  std::int64_t last_level_bytes = 0;  // of the device; for cold rotations
};

// `tell` gets every contender's result once, as soon as nothing more will be known of it. `contenders` holds exactly one baseline.
void run_race(const PreparedSubject& subject, std::vector<Contender> contenders, const RaceRequest& request, SharedPage& page,
              const std::function<void(const RaceResult&)>& tell);

// The kernel against itself: 2 x rank_samples in interleaved rounds; up to three tries while the floor is above 5 %.
FloorOutcome measure_floor(const PreparedSubject& subject, const generators::host::Loaded& build, const Candidate& kernel, const RaceRequest& request,
                           SharedPage& page);

}  // namespace kiln::autotune
