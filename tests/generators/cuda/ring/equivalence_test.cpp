// What the ring skeleton's kernels compute, in the emulator, equals the reference: every kind, ragged extents, eight orders in which threads take turns.
#include <gtest/gtest.h>

#include "dsl/schedule.h"
#include "generators/cuda/emulated/emulated.h"
#include "tests/generators/cuda/ring/instances.h"
#include "tests/generators/cuda/stream/emulated_subject.h"
#include "tests/generators/cuda/stream/oracle.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;

constexpr std::uint64_t kSeed = 20261130;
constexpr unsigned kOrders = 8;

void expect_equal(const std::string& problem, const Schedule& schedule, unsigned orders) {
  SCOPED_TRACE(problem + "\n" + print(schedule));
  const Oracle& known = oracle(problem);
  const EmulatedSubject subject(known.algorithm, problem, known.reference, kSeed);
  const cuda::Program program = cuda::lower(known.algorithm, schedule, subject.problem());
  const cuda::LaunchRecord record = launch_record(program);
  ASSERT_TRUE(cuda::Emulated::takes(record, subject.extents()));
  const cuda::Emulated emulated(program.text(), record);
  for (unsigned order = 0; order < orders; ++order) EXPECT_EQ(subject.difference(emulated, order), "") << "order " << order << "\n" << program.text();
}

class RingEquivalence : public testing::TestWithParam<RingInstance> {};

TEST_P(RingEquivalence, equals_the_reference_in_whatever_order_threads_take_turns) { expect_equal(GetParam().problem, parse_schedule(GetParam().schedule), kOrders); }

INSTANTIATE_TEST_SUITE_P(, RingEquivalence, testing::ValuesIn(ring_instances()), [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace kiln::tests
