#include "hopper.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "missing.h"

namespace kiln::gpu {
namespace {

namespace cu = generators::cuda::driver;

cu::OpenDevice opened() try {
  const cu::Driver driver = cu::Driver::load();
  if (driver.devices() == 0) throw Missing("no CUDA device");
  const Gpu gpu = *driver.device(0).gpu;
  if (gpu.capability_major != 9 || gpu.capability_minor != 0)
    throw Missing("the device is made for " + gpu.arch + "; sm_90a code runs on compute capability 9.0 only");
  return {driver, 0};
} catch (const cu::DriverMissing& missing) {
  throw Missing(missing.what());
}

[[noreturn]] void end(const std::string& words) {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = test == nullptr ? "outside a test" : std::string(test->test_suite_name()) + "." + test->name();
  std::printf("%s: %s\n", name.c_str(), words.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

}  // namespace

const cu::OpenDevice& hopper() {
  static const cu::OpenDevice device = opened();
  return device;
}

const cu::Stream& stream() {
  static const cu::Stream one(hopper());
  return one;
}

void wait() {
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!stream().is_idle()) {
    if (std::chrono::steady_clock::now() > last) end("the kernel has not ended after 10 seconds");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void end_if_lost(const std::string& words) try {
  (void)stream().is_idle();
} catch (const cu::DriverError&) {
  end(words);
}

}  // namespace kiln::gpu
