// The clocks of a call: each number is what the driver said, and what is launched is what was meant to be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "autotune/measure/measure_messages.h"
#include "autotune/worker/gpu_clocks.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/launch_record.h"
#include "tests/generators/cuda/driver/fake_cuda.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::autotune {
namespace {

namespace cuda = generators::cuda;
namespace driver = generators::cuda::driver;

constexpr const char* kOneKernel = "y.rows(1, 32)\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
constexpr const char* kTwoKernels = "y.rows(1, 32)\nscale.compute_at(y, m)\nsquares.compute_root().rows(2, 64)\n";

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

class ClocksOfACall : public testing::Test {
 protected:
  ClocksOfACall() {
    protocol.warm_ms = 0;
    protocol.sample_us = 100;
    protocol.final_samples = 5;
    fake.fail("cuEventQuery", driver::kNotReady);  // what is behind a hold has not begun
  }

  cuda::LoadedProgram program(const char* schedule) const {
    return {device, "cubin", cuda::launch_record(cuda::lower(algorithm, parse_schedule(schedule), problem))};
  }

  std::vector<Clocks> clocks(const char* schedule, Cache cache = Cache::hot, std::int64_t l2_bytes = 1 << 20) {
    const cuda::LoadedProgram loaded = program(schedule);
    GpuRotation rotation(device, stream, algorithm, inputs, std::make_shared<const GpuOriginals>(device, stream, algorithm, inputs), cache, l2_bytes);
    sets = static_cast<int>(rotation.sets());
    const driver::Hold hold(device);
    fake.calls();
    auto taken = measure_clocks(loaded, rotation, hold, {protocol, cache, page.page(), [this] { return fake.now(); }});
    calls = fake.calls();
    return taken;
  }

  driver::FakeCuda fake;
  driver::OpenDevice device{fake.driver(), 0};
  driver::Stream stream{device};
  Algorithm algorithm = tests::norm();
  Problem problem = resolve(parse_problem_text("norm(m=4, n=96)"), algorithm);
  Inputs inputs = make_inputs(algorithm, problem, 1, 0);
  Protocol protocol = gpu_protocol(Cache::hot);
  SharedPageOwner page;
  std::string calls;
  int sets = 0;
};

TEST_F(ClocksOfACall, are_what_the_driver_said) {
  fake.elapsed({0.02f});  // 20 us between any two events
  fake.cost("cuLaunchKernelEx", 2500);
  fake.cost("cuGraphLaunch", 4000);
  fake.cost("cuStreamSynchronize", 30000);
  fake.sm_mhz(1755);
  const std::vector<Clocks> taken = clocks(kTwoKernels);
  ASSERT_EQ(taken.size(), 2u);
  // A single call seems to take 20 us, so five make a sample of 100 us: a fifth of what is between its events is a call's.
  const Clocks graph{.submission = Submission::graph, .cache = Cache::hot, .kernels = 2, .calls_together = 5, .device = {4000, 0}, .submit = {4000, 0},
                     .completion = {34000, 0}, .sm_mhz = 1755};
  const Clocks plain{.submission = Submission::plain, .cache = Cache::hot, .kernels = 2, .calls_together = 5, .device = {4000, 0}, .submit = {5000, 0},
                     .completion = {35000, 0}, .sm_mhz = 1755};
  EXPECT_NEAR(taken[0].device.median_ns, graph.device.median_ns, 0.01);
  for (std::size_t i = 0; i < 2; ++i) {
    Clocks rounded = taken[i];  // the driver's milliseconds are floats
    rounded.device.median_ns = std::round(rounded.device.median_ns);
    EXPECT_EQ(rounded, i == 0 ? graph : plain) << i;
  }
}

TEST_F(ClocksOfACall, are_medians_with_the_middle_half) {
  fake.elapsed({0.1f, 0.2f, 0.1f, 0.2f, 0.6f});
  const std::vector<Clocks> taken = clocks(kOneKernel);
  for (const Clocks& one : taken) {
    EXPECT_EQ(one.kernels, 1);
    EXPECT_EQ(one.calls_together, 1);
    EXPECT_NEAR(one.device.median_ns, 200000, 1);  // five samples in a row are all five numbers, wherever they begin
    EXPECT_NEAR(one.device.iqr_ns, 100000, 1);
  }
}

// Two calls to warm up; a graph of one call and one of five, launched 1 + 5 and 1 + 5 times; plain launches of five calls 1 + 5 times, and of one 5 times.
TEST_F(ClocksOfACall, take_the_launches_that_were_meant) {
  fake.elapsed({0.02f});
  clocks(kTwoKernels);
  const int kernels = 2, warm = 2, captured = 1 + 5, plain = 5 + 5 * 5 + 5;
  EXPECT_EQ(count(calls, "cuLaunchKernelEx") - count(calls, "cuLaunchKernelEx hold"), kernels * (warm + captured + plain)) << calls;
  EXPECT_EQ(count(calls, "cuGraphInstantiate"), 2);
  EXPECT_EQ(count(calls, "cuGraphLaunch"), 1 + 1 + 5 + 5);
  EXPECT_EQ(count(calls, "cuLaunchKernelEx hold"), 5 + 5);
  EXPECT_EQ(count(calls, "cuEventQuery"), 5 + 5);
}

TEST_F(ClocksOfACall, that_are_cold_go_through_all_sets_equally_often) {
  fake.elapsed({0.02f});
  const std::vector<Clocks> taken = clocks(kOneKernel, Cache::cold, 2000);
  ASSERT_EQ(sets, 3);
  EXPECT_EQ(taken[0].cache, Cache::cold);
  EXPECT_EQ(taken[0].calls_together, 6);  // five are wanted
  EXPECT_EQ(taken[1].calls_together, 5);
  EXPECT_EQ(count(calls, "cuGraphInstantiate"), 3 + 1);
}

// Behind a hold that was too short the device's time would be the host's.
TEST_F(ClocksOfACall, that_were_not_held_are_taken_again_behind_longer_holds_and_then_left_out) {
  fake.fail("cuEventQuery", driver::kSuccess);
  const std::vector<Clocks> taken = clocks(kOneKernel);
  for (const Clocks& one : taken) {
    EXPECT_TRUE(std::isnan(one.device.median_ns));
    EXPECT_TRUE(std::isnan(one.sm_mhz));
    EXPECT_FALSE(std::isnan(one.submit.median_ns));
  }
  EXPECT_EQ(count(calls, "hold 20000;"), 2);
  EXPECT_EQ(count(calls, "hold 40000;"), 2);
  EXPECT_EQ(count(calls, "hold"), 2 * 4 * 5);
  EXPECT_EQ(count(calls, "hold 20000000;"), 2 * 10);  // and no longer than that
}

TEST_F(ClocksOfACall, that_fail_say_so_in_the_drivers_words) {
  fake.fail("cuGraphLaunch", 2);
  try {
    clocks(kOneKernel);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const driver::DriverError& error) {
    EXPECT_STREQ(error.what(), "cuGraphLaunch: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
  }
}

TEST_F(ClocksOfACall, travel_as_they_are) {
  ClocksOutcome outcome;
  outcome.clocks = {{Submission::plain, Cache::cold, 2, 7, {1.5, 0.25}, {2, 0}, {3, 1}, 1755}};
  outcome.absent = "no compiler for PTX";
  const ClocksOutcome back = clocks_outcome_from_json(to_json(outcome));
  EXPECT_EQ(back.clocks, outcome.clocks);
  EXPECT_EQ(back.absent, outcome.absent);
  EXPECT_FALSE(back.rejection);
}

}  // namespace
}  // namespace kiln::autotune
