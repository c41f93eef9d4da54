#include <gtest/gtest.h>

#include "schedules/devices.h"
#include "tests/generators/cuda/driver/fake_cuda.h"

namespace kiln::generators::cuda::driver {
namespace {

TEST(DeviceFacts, a_device_at_hand_is_the_named_one_of_its_model) {
  const FakeCuda fake;
  const Device found = fake.driver().device(0);
  EXPECT_EQ(print(identity(found)), print(identity(schedules::device_named("h200"))));
  EXPECT_EQ(digest(found), digest(schedules::device_named("h200")));
  EXPECT_EQ(schedules::with_data_sheet(found), schedules::device_named("h200"));
}

TEST(DeviceFacts, the_peaks_are_the_drivers) {
  const FakeCuda fake;
  const Device found = fake.driver().device(0);
  EXPECT_EQ(found.gpu->memory_bytes_per_s, std::int64_t{2} * 3201000000 * 768);
  EXPECT_EQ(found.gpu->clock_hz, 1980000000);
  EXPECT_EQ(found.gpu->tensor_flops, 0);
}

TEST(DeviceFacts, the_memory_does_not_follow_what_a_driver_keeps_for_itself) {
  const FakeCuda fake;
  EXPECT_EQ(fake.driver().device(0).gpu->memory_bytes, std::int64_t{140} << 30);  // of 150,100,000,000
}

TEST(DeviceFacts, what_has_no_attribute_follows_from_the_compute_capability) {
  const FakeCuda fake;
  struct Row {
    int major, minor;
    const char* arch;
    int barriers_per_block;
  };
  for (const Row& row : {Row{8, 0, "sm_80", 2}, Row{8, 6, "sm_86", 1}, Row{9, 0, "sm_90a", 2}, Row{10, 0, "sm_100a", 2}, Row{12, 0, "sm_120a", 1}}) {
    fake.set_attribute(75, row.major);
    fake.set_attribute(76, row.minor);
    const Gpu gpu = *fake.driver().device(0).gpu;
    EXPECT_EQ(gpu.arch, row.arch);
    EXPECT_EQ(gpu.sm_barriers, 32 * row.barriers_per_block) << row.arch;
    EXPECT_EQ(gpu.register_step, 8);
    EXPECT_EQ(gpu.shared_step_bytes, 128);
  }
  fake.set_attribute(120, 0);
  EXPECT_EQ(fake.driver().device(0).gpu->cluster_blocks, 0);
}

TEST(DeviceFacts, an_attribute_that_cannot_be_read_is_named) {
  const FakeCuda fake;
  fake.fail("cuDeviceGetAttribute", 2);
  try {
    fake.driver().device(0);
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_STREQ(error.what(), "cuDeviceGetAttribute 75 of cuda:0: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
  }
}

}  // namespace
}  // namespace kiln::generators::cuda::driver
