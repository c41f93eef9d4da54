// What the ring skeleton prints, through the compiler: every kind becomes a cubin that takes what was predicted.
#include <gtest/gtest.h>

#include "dsl/schedule.h"
#include "generators/cuda/build.h"
#include "schedules/devices.h"
#include "tests/generators/cuda/compile/with_nvrtc.h"
#include "tests/generators/cuda/ring/instances.h"
#include "tests/generators/cuda/stream/oracle.h"

namespace kiln::tests {
namespace {

class RingCompiles : public generators::cuda::compile::WithNvrtc {};

TEST_F(RingCompiles, and_takes_what_was_predicted) {
  for (const RingInstance& instance : ring_instances()) {
    SCOPED_TRACE(instance.name);
    const Algorithm algorithm = algorithm_of(instance.problem);
    const Problem problem = resolve(parse_problem_text(instance.problem), algorithm);
    const generators::Build build = generators::cuda::build(*nvrtc_, algorithm, parse_schedule(instance.schedule), problem, schedules::device_named("h200"));
    if (build.rejection) {
      ADD_FAILURE() << build.rejection->text << build.log;
      continue;
    }
    ASSERT_EQ(build.predicted->kernels.size(), build.actual->kernels.size());
    for (std::size_t i = 0; i < build.actual->kernels.size(); ++i) {
      const auto &predicted = build.predicted->kernels[i], &actual = build.actual->kernels[i];
      EXPECT_EQ(predicted.shared_bytes, actual.shared_bytes);
      EXPECT_EQ(predicted.blocks, actual.blocks);
      EXPECT_LE(actual.spill_bytes, 8);
    }
  }
}

}  // namespace
}  // namespace kiln::tests
