// A race in the measuring worker: contenders on the same buffers, in rounds, baseline and incumbent in every one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "autotune/measure/shared_page.h"
#include "autotune/worker/measured_device.h"
#include "autotune/worker/prepared_subject.h"

namespace kiln::autotune {

struct Contender {
  RaceEntry entry;
  std::unique_ptr<LoadedCandidate> build;
};

struct RaceRequest {
  Protocol protocol;
  RaceOptions options;
};

// `tell` gets every contender's result once, as soon as nothing more will be known of it. `contenders` holds exactly one baseline.
void run_race(MeasuredDevice& device, const PreparedSubject& subject, std::vector<Contender> contenders, const RaceRequest& request, SharedPage& page,
              const std::function<void(const RaceResult&)>& tell);

// The kernel against itself: 2 x rank_samples in interleaved rounds; up to three tries while the floor is above 5 %.
FloorOutcome measure_floor(MeasuredDevice& device, const PreparedSubject& subject, LoadedCandidate& build, const Candidate& kernel, const RaceRequest& request,
                           SharedPage& page);

}  // namespace kiln::autotune
