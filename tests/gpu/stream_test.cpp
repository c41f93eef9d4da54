// Every kind of kernel of the stream skeleton on a device, at a small problem with ragged ends: right by the reference, the same from launch to launch, and the
// same as in the emulator within what each may be off. Under compute-sanitizer: --together --gtest_filter=*are_right*.
#include <gtest/gtest.h>

#include <memory>

#include "device_subject.h"
#include "generators/cuda/emulator/compiled.h"
#include "hopper.h"
#include "missing.h"
#include "tests/generators/cuda/stream/instances.h"

namespace kiln::gpu {
namespace {

constexpr int kRepeats = 20;

class Stream : public testing::TestWithParam<tests::StreamInstance> {
 protected:
  void SetUp() override try {
    hopper();
    subject_ = std::make_unique<DeviceSubject>(GetParam().problem, GetParam().schedule);
  } catch (const Missing& missing) {
    GTEST_SKIP() << missing.what();
  }

  std::unique_ptr<DeviceSubject> subject_;
};

TEST_P(Stream, are_right_on_the_device) { EXPECT_EQ(subject_->difference_from_reference(), ""); }

TEST_P(Stream, give_the_same_bits_each_time) { EXPECT_EQ(subject_->difference_between_calls(kRepeats), ""); }

TEST_P(Stream, give_what_the_emulator_gives) try {
  EXPECT_EQ(subject_->difference_from_emulator(GetParam().name), "");
} catch (const generators::cuda::emulator::CompilerMissing& missing) {
  GTEST_SKIP() << missing.what();
}

INSTANTIATE_TEST_SUITE_P(All, Stream, testing::ValuesIn(tests::stream_instances()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kiln::gpu
