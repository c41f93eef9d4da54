#include <gtest/gtest.h>

#include "generators/host/host.h"

namespace kiln::generators::host {
namespace {

Device two_cores() {
  Device device;
  device.cores = 2;
  device.vector_registers = 32;
  return device;
}

TEST(Prune, scratch_is_allowed_up_to_8_gib_a_core) {
  Predicted report;
  report.peak_intermediate_bytes = std::int64_t{16} << 30;
  EXPECT_EQ(prune(report, two_cores()), std::nullopt);
  *report.peak_intermediate_bytes *= 2;
  const auto rejection = prune(report, two_cores());
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->reason, Reason::over_scratch);
  EXPECT_EQ(rejection->asked, 32.0 * (1 << 30));
  EXPECT_EQ(rejection->allowed, 16.0 * (1 << 30));
  EXPECT_EQ(rejection->text, "intermediate results need 32.0 GiB at once; 2 cores are given at most 16.0 GiB");
}

TEST(Prune, what_could_not_be_predicted_rejects_nothing) { EXPECT_EQ(prune(Predicted{}, two_cores()), std::nullopt); }

TEST(Prune, spills_are_allowed_until_loops_do_little_else) {
  Actual report;
  report.loop_stack_stores = 2048;
  EXPECT_EQ(prune(report, two_cores()), std::nullopt);
  report.loop_stack_stores = 2049;
  const auto rejection = prune(report, two_cores());
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->reason, Reason::spills);
  EXPECT_EQ(rejection->asked, 2049);
  EXPECT_EQ(rejection->allowed, 2048);
  EXPECT_EQ(rejection->text, "2049 instructions inside innermost loops store to the stack; with 32 vector registers at most 2048 make sense");
}

}  // namespace
}  // namespace kiln::generators::host
