// Every kind of kernel of the ring skeleton on a device, at a small problem with ragged ends: right by the reference, the same from launch to launch, and the
// same as in the emulator within what each may be off. And at a larger one, where each stage is used many times over. Blocks of a persistent kernel go on to
// other tiles there only when they are few, for a device has many multiprocessors: these are launched with few blocks too. A test whose kernel does not end, or
// fails, ends its process and no other test (apart.h). Under compute-sanitizer: --together --gtest_filter=*are_right*.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>

#include "autotune/measure/in_parallel.h"
#include "device_subject.h"
#include "generators/cuda/emulator/compiled.h"
#include "generators/runtime/host.h"
#include "hopper.h"
#include "missing.h"
#include "tests/generators/cuda/ring/instances.h"

namespace kiln::gpu {
namespace {

namespace cuda = generators::cuda;

constexpr int kRepeats = 100;

// No tile of any kind but those of 16 columns divides these, and rows begin at 16 bytes in each type.
std::string larger(const std::string& problem) {
  static const std::map<std::string, std::string> extents = {{"m", "509"}, {"n", "1552"}, {"k", "1040"}};
  const ProblemText text = parse_problem_text(problem);
  std::vector<std::string> items;
  for (const ProblemText::Item& item : text.items) {
    const auto extent = extents.find(item.name);
    const std::string& value = extent == extents.end() ? item.value : extent->second;
    items.push_back(item.name.empty() ? value : item.name + "=" + value);
  }
  return fmt::format("{}({})", text.operator_name, fmt::join(items, ", "));
}

bool is_persistent(const cuda::LaunchRecord& record) { return record.kernels.front().blocks_per_sm > 0; }

// Of a persistent kernel: a block to every three by three tiles.
cuda::LaunchRecord with_few_blocks(cuda::LaunchRecord record) {
  for (cuda::GridFactor& factor : record.kernels.front().grid) factor.per_block *= 3;
  return record;
}

void expect_right(const DeviceSubject& subject) {
  EXPECT_EQ(subject.difference_from_reference(), "");
  if (!is_persistent(subject.record())) return;
  EXPECT_EQ(subject.difference_from_reference(with_few_blocks(subject.record())), "") << "with few blocks";
}

class Ring : public testing::TestWithParam<tests::RingInstance> {
 protected:
  // For the reference.
  static void SetUpTestSuite() { ASSERT_EQ(kiln_host_start(autotune::usable_processors()), KILN_HOST_OK); }
  static void TearDownTestSuite() { kiln_host_stop(); }

  void SetUp() override try {
    hopper();
    subject_ = std::make_unique<DeviceSubject>(GetParam().problem, GetParam().schedule);
  } catch (const Missing& missing) {
    GTEST_SKIP() << missing.what();
  }

  std::unique_ptr<DeviceSubject> subject_;
};

TEST_P(Ring, are_right_on_the_device) { expect_right(*subject_); }

TEST_P(Ring, give_the_same_bits_each_time) { EXPECT_EQ(subject_->difference_between_calls(kRepeats), ""); }

TEST_P(Ring, stay_right_over_many_steps_and_tiles) {
  const DeviceSubject subject(larger(GetParam().problem), GetParam().schedule);
  expect_right(subject);
  EXPECT_EQ(subject.difference_between_calls(1), "");
}

TEST_P(Ring, give_what_the_emulator_gives) try {
  EXPECT_EQ(subject_->difference_from_emulator(GetParam().name), "");
} catch (const cuda::emulator::CompilerMissing& missing) {
  GTEST_SKIP() << missing.what();
}

INSTANTIATE_TEST_SUITE_P(All, Ring, testing::ValuesIn(tests::ring_instances()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kiln::gpu
