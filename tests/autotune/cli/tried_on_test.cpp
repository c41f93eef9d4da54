#include "autotune/cli/pages/tried_on.h"

#include <gtest/gtest.h>

#include "autotune/records.h"
#include "dsl/error.h"
#include "schedules/devices.h"
#include "tests/db/sample_store.h"

namespace kiln::autotune::cli {
namespace {

using db::message_of;

class Tried : public testing::Test {
 protected:
  // A run's candidate on a device; on the sample's CPU without one.
  void try_on(const std::optional<Device>& device) {
    const db::DeviceId cpu = sample_.key.device;
    if (device) sample_.key.device = db::keep(*sample_, device_row(*device));
    const db::TrialId trial = db::plan_trial(*sample_, sample_.run(), sample_.key.problem, schedule_);
    db::reject_trial(*sample_, trial, {"run_error", {}, {}, "as it is"});
    sample_.key.device = cpu;
  }
  db::CandidateName name() const { return {schedule_, sample_.key.problem}; }
  std::string candidate() { return "candidate " + db::schedule(*sample_, schedule_).digest.short_hex(); }

  db::SampleStore sample_;
  const db::ScheduleId schedule_ = sample_.schedule("y.rows(1, 256)");
};

// A driver's answer may differ in what a data sheet says: the model decides.
Device h200_as_found() {
  Device device = schedules::device_named("h200");
  device.gpu->memory_bytes -= 1 << 20;
  device.gpu->memory_bytes_per_s = 0;
  return device;
}

Device unknown_gpu() {
  Device device = schedules::device_named("h100");
  device.model = "NVIDIA X1";
  return device;
}

TEST_F(Tried, on_nothing_or_on_a_cpu_names_no_gpu) {
  EXPECT_EQ(gpu_tried_on(*sample_, name()), std::nullopt);
  try_on(std::nullopt);
  EXPECT_EQ(gpu_tried_on(*sample_, name()), std::nullopt);
  EXPECT_NO_THROW(require_tried_on_cpu(*sample_, name()));
}

TEST_F(Tried, on_gpus_of_one_model_has_what_is_known_of_it) {
  try_on(h200_as_found());
  try_on(schedules::device_named("h200"));
  EXPECT_EQ(gpu_tried_on(*sample_, name()), schedules::device_named("h200"));
  EXPECT_EQ(message_of<UsageError>([&] { require_tried_on_cpu(*sample_, name()); }),
            candidate() + " was tried on NVIDIA H200, not on a CPU, and is measured on the device itself: --device cuda:0, where there is one");
}

TEST_F(Tried, on_a_gpu_that_no_name_is_known_of_has_what_was_stored) {
  try_on(unknown_gpu());
  EXPECT_EQ(gpu_tried_on(*sample_, name()), identity(unknown_gpu()));
}

TEST_F(Tried, on_several_devices_lists_them) {
  try_on(unknown_gpu());
  try_on(schedules::device_named("h200"));
  EXPECT_EQ(message_of<UsageError>([&] { gpu_tried_on(*sample_, name()); }),
            candidate() + " was tried on 2 devices; choose one with --device:\n  h200, NVIDIA H200\n  cuda:0, NVIDIA X1");
  try_on(std::nullopt);
  EXPECT_EQ(message_of<UsageError>([&] { gpu_tried_on(*sample_, name()); }),
            candidate() + " was tried on 3 devices; choose one with --device:\n  h200, NVIDIA H200\n  cuda:0, NVIDIA X1\n  cpu, Xeon");
  EXPECT_NO_THROW(require_tried_on_cpu(*sample_, name()));
}

}  // namespace
}  // namespace kiln::autotune::cli
