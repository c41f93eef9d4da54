#include "generators/cuda/driver/driver.h"

#include <gtest/gtest.h>

#include "generators/cuda/driver/open_device.h"
#include "tests/generators/cuda/driver/fake_cuda.h"

namespace kiln::generators::cuda::driver {
namespace {

template <typename Failure, typename Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "none";
}

TEST(Driver, that_is_absent_says_where_it_comes_from) {
  EXPECT_EQ(message_of<DriverMissing>([] { Driver::load("libcuda_nowhere.so.1"); }),
            "no CUDA driver: libcuda_nowhere.so.1: cannot open shared object file: No such file or directory; it comes with NVIDIA's driver for the GPU");
}

TEST(Driver, that_lacks_a_function_says_which_and_how_new_it_must_be) {
  EXPECT_EQ(message_of<DriverMissing>([] { Driver::load("libm.so.6"); }),
            "libm.so.6 is no CUDA driver, or one that is too old: it has no cuGetErrorName; CUDA 12.4 or newer is needed");
}

TEST(Driver, that_does_not_start_says_why) {
  const FakeCuda fake;
  fake.fail("cuInit", 100);
  EXPECT_EQ(message_of<DriverMissing>([&] { fake.driver(); }),
            "the CUDA driver does not start: cuInit: no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE, 100)");
}

// A missing driver is a lack of the machine: the program ends with 3, as for a missing compiler.
TEST(Driver, absence_is_a_lack_of_the_machine) { EXPECT_THROW(Driver::load("libcuda_nowhere.so.1"), EnvironmentError); }

TEST(Driver, a_failed_call_is_named_with_the_drivers_words) {
  const FakeCuda fake;
  const Driver driver = fake.driver();
  EXPECT_EQ(driver.version(), 13000);
  EXPECT_EQ(driver.devices(), 1);
  driver.check(kSuccess, "nothing");
  EXPECT_EQ(message_of<DriverError>([&] { driver.check(2, "cuSomething of 3"); }), "cuSomething of 3: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
  EXPECT_EQ(message_of<DriverError>([&] { driver.check(7777, "cuSomething"); }), "cuSomething: unknown error (7777)");
  try {
    driver.check(719, "a launch");
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_EQ(error.status(), 719);
  }
}

TEST(Driver, a_device_that_is_not_there_is_refused_with_the_count) {
  const FakeCuda fake;
  for (const int ordinal : {1, -1})
    EXPECT_EQ(message_of<EnvironmentError>([&] { OpenDevice(fake.driver(), ordinal); }),
              "there is no cuda:" + std::to_string(ordinal) + ": this process sees 1 CUDA devices");
}

TEST(OpenDevice, its_context_is_kept_until_the_last_copy_is_gone) {
  const FakeCuda fake;
  const Driver driver = fake.driver();
  fake.calls();
  {
    std::unique_ptr<OpenDevice> copy;
    {
      const OpenDevice device(driver, 0);
      EXPECT_EQ(fake.calls(), "cuDeviceGetCount; cuDeviceGet 0; cuDevicePrimaryCtxRetain 40; cuCtxSetCurrent");
      copy = std::make_unique<OpenDevice>(device);
    }
    EXPECT_EQ(fake.calls(), "");
    copy->make_current();
    EXPECT_EQ(fake.calls(), "cuCtxSetCurrent");
  }
  EXPECT_EQ(fake.calls(), "cuDevicePrimaryCtxRelease 40");
}

TEST(OpenDevice, a_context_that_was_not_made_is_not_released) {
  const FakeCuda fake;
  const Driver driver = fake.driver();
  fake.fail("cuDevicePrimaryCtxRetain", 2);
  fake.calls();
  EXPECT_EQ(message_of<DriverError>([&] { OpenDevice(driver, 0); }), "cuDevicePrimaryCtxRetain of cuda:0: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
  EXPECT_EQ(fake.calls(), "cuDeviceGetCount; cuDeviceGet 0; cuDevicePrimaryCtxRetain 40");
}

}  // namespace
}  // namespace kiln::generators::cuda::driver
