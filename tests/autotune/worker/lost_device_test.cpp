// A GPU that breaks under a candidate, for the worker that ran it or for good: by a driver whose kernels do nothing and that breaks when it is told to.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "autotune/measurer.h"
#include "dsl/error.h"
#include "schedules/devices.h"
#include "tests/support/gpu_subject.h"

namespace kiln::autotune {
namespace {

using generators::Reason;

// Workers find the fake under the driver's name.
class LostDevice : public testing::Test {
 protected:
  LostDevice() {
    std::filesystem::create_symlink(KILN_FAKE_CUDA, folder.file("libcuda.so.1"));
    ::setenv("LD_LIBRARY_PATH", folder.path().c_str(), 1);
    key = measurer.prepare(subject.subject()).key;
  }
  ~LostDevice() override {
    ::unsetenv("LD_LIBRARY_PATH");
    ::unsetenv("KILN_FAKE_CUDA_BREAKS");
  }

  std::string error_of_check() {
    try {
      measurer.check(key, candidate);
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "none";
  }

  db::TemporaryFolder folder;
  tests::GpuSubject subject{"swiglu(m=3, n=40, bf16)", "y.rows(1, 32)\n"};
  Candidate candidate = subject.candidate(1, "what the fake takes for a cubin");
  Measurer measurer{schedules::device_named("h200"), gpu_protocol(Cache::hot), subject.objects()};
  std::string key;
};

TEST_F(LostDevice, is_not_what_a_wrong_result_is_taken_for) {
  const auto worker = measurer.pid();
  const CheckOutcome outcome = measurer.check(key, candidate);
  ASSERT_TRUE(outcome.rejection);
  EXPECT_EQ(outcome.rejection->reason, Reason::wrong_result);  // kernels that do nothing leave the poison where it was
  EXPECT_EQ(measurer.pid(), worker);
}

TEST_F(LostDevice, of_one_process_costs_the_candidate_and_the_worker) {
  ::setenv("KILN_FAKE_CUDA_BREAKS", "once", 1);
  measurer.give_up_worker();
  for (int again = 0; again < 2; ++again) {  // each in a worker of its own, whose device has passed the health check
    const CheckOutcome outcome = measurer.check(key, candidate);
    ASSERT_TRUE(outcome.rejection);
    EXPECT_EQ(outcome.rejection->reason, Reason::run_error);
    EXPECT_EQ(outcome.rejection->text, "cuEventRecord: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)");
    EXPECT_FALSE(measurer.pid());
  }
}

TEST_F(LostDevice, for_good_ends_the_work_with_its_reason) {
  ::setenv("KILN_FAKE_CUDA_BREAKS", folder.file("lost").c_str(), 1);
  measurer.give_up_worker();
  const CheckOutcome outcome = measurer.check(key, candidate);
  ASSERT_TRUE(outcome.rejection);
  EXPECT_EQ(outcome.rejection->text, "cuEventRecord: uncorrectable ECC error encountered (CUDA_ERROR_ECC_UNCORRECTABLE, 214)");
  EXPECT_EQ(error_of_check(), "NVIDIA H200 cannot be used: cuDevicePrimaryCtxRetain of cuda:0: uncorrectable ECC error encountered (CUDA_ERROR_ECC_UNCORRECTABLE, 214)");
}

}  // namespace
}  // namespace kiln::autotune
