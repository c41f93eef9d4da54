// own_schedule: the schedule that the generator's author wrote, as it is.
//   own_schedule()                                      stands alone; the reader process makes the pipeline
//   legal when:  the generator's schedule() leaves some stage other than at its default, in the algorithm that is tuned.
//   numerics:    unknown.
#pragma once

#include "dsl/algorithm.h"
#include "dsl/directive.h"

namespace kiln::directive {

struct OwnSchedule {
  static DirectiveSpec spec() {
    return {.name = "own_schedule",
            .sentence = "the schedule that the generator's author wrote",
            .signatures = {{}},
            .is_opaque = true,
            .numerics = NumericsEffect::unknown,
            .refuse_alone = refuse};
  }

  static std::string refuse(const Directive&, const Algorithm& algorithm) {
    if (!algorithm.own_pipeline.empty()) return {};
    return algorithm.generator + " has no schedule of its own: " + algorithm.own_schedule_absent;
  }
};

}  // namespace kiln::directive
