// Every kind of kernel of the stream skeleton on a device, at a small problem with ragged ends: right by the reference, the same from launch to launch, and the
// same as in the emulator within what each may be off. Under compute-sanitizer: --gtest_filter=*are_right*.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "device_program.h"
#include "dsl/schedule.h"
#include "generators/cuda/emulator/compiled.h"
#include "hopper.h"
#include "missing.h"
#include "tests/generators/cuda/stream/emulated_subject.h"
#include "tests/generators/cuda/stream/instances.h"
#include "tests/generators/cuda/stream/oracle.h"

namespace kiln::gpu {
namespace {

namespace cuda = generators::cuda;
using tests::EmulatedSubject;

constexpr std::uint64_t kSeed = 20261130;
constexpr int kRepeats = 20;

class Stream : public testing::TestWithParam<tests::StreamInstance> {
 protected:
  void SetUp() override try {
    hopper();
    const tests::Oracle& known = tests::oracle(GetParam().problem);
    subject_ = std::make_unique<EmulatedSubject>(known.algorithm, GetParam().problem, known.reference, kSeed);
    program_ = cuda::lower(known.algorithm, parse_schedule(GetParam().schedule), subject_->problem());
    device_ = std::make_unique<DeviceProgram>(program_);
  } catch (const Missing& missing) {
    GTEST_SKIP() << missing.what();
  }

  EmulatedSubject::Run on_device() const {
    return [this](EmulatedSubject::Call& call) { return device_->run(call); };
  }

  std::unique_ptr<EmulatedSubject> subject_;
  cuda::Program program_;
  std::unique_ptr<DeviceProgram> device_;
};

TEST_P(Stream, are_right_on_the_device) { EXPECT_EQ(subject_->difference(on_device()), ""); }

TEST_P(Stream, give_the_same_bits_each_time) {
  EmulatedSubject::Call first = subject_->call();
  ASSERT_EQ(device_->run(first), "");
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    EmulatedSubject::Call again = subject_->call();
    ASSERT_EQ(device_->run(again), "");
    ASSERT_EQ(again.outputs, first.outputs) << "repeat " << repeat;
  }
}

TEST_P(Stream, give_what_the_emulator_gives) try {
  EmulatedSubject::Call device = subject_->call(), emulated = subject_->call();
  const cuda::Emulated emulator(program_.text(), launch_record(program_));
  ASSERT_EQ(emulator.run(emulated, 0), "");
  ASSERT_EQ(device_->run(device), "");
  EXPECT_EQ(subject_->difference_between(device, emulated), "");
  for (const auto& [name, bytes] : device.outputs) {
    const std::vector<std::byte>& other = emulated.outputs.at(name);
    std::size_t different = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) different += bytes[i] != other[i];
    std::printf("%-28s %-8s %6zu bytes, %5zu differ\n", GetParam().name.c_str(), name.c_str(), bytes.size(), different);
  }
} catch (const cuda::emulator::CompilerMissing& missing) {
  GTEST_SKIP() << missing.what();
}

INSTANTIATE_TEST_SUITE_P(All, Stream, testing::ValuesIn(tests::stream_instances()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kiln::gpu
