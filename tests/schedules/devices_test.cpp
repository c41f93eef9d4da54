#include "schedules/devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dsl/error.h"
#include "schedules/edits.h"
#include "schedules/sketch.h"
#include "schedules/spaces.h"
#include "tests/support/small_algorithms.h"

namespace kiln::schedules {
namespace {

template <typename Work>
std::string usage_error_of(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(Devices, are_sorted_sourced_and_print_as_devices_do) {
  std::string before;
  for (const NamedDevice& named : named_devices()) {
    EXPECT_LT(before, named.name);
    EXPECT_FALSE(named.source.empty());
    EXPECT_TRUE(std::is_sorted(named.device.features.begin(), named.device.features.end()));
    EXPECT_EQ(parse_device(print(named.device)), named.device);
    before = named.name;
  }
}

TEST(Devices, registers_follow_from_the_features) {
  for (const NamedDevice& named : named_devices()) {
    if (named.device.gpu) continue;
    const auto& features = named.device.features;
    const bool wide = std::count(features.begin(), features.end(), "avx512") > 0, avx = std::count(features.begin(), features.end(), "avx") > 0;
    EXPECT_EQ(named.device.vector_bytes, wide ? 64 : avx ? 32 : 16) << named.name;
    EXPECT_EQ(named.device.vector_registers, wide ? 32 : 16) << named.name;
  }
}

// What one number says must agree with the others: a digit typed wrong shows.
TEST(Devices, the_numbers_of_a_gpu_agree_with_each_other) {
  int gpus = 0;
  for (const NamedDevice& named : named_devices()) {
    if (!named.device.gpu) continue;
    const Gpu& gpu = *named.device.gpu;
    ++gpus;
    EXPECT_EQ(gpu.block_shared_bytes + gpu.reserved_shared_bytes, gpu.sm_shared_bytes) << named.name;
    EXPECT_EQ(gpu.sm_warps() * gpu.warp_threads, gpu.sm_threads) << named.name;
    EXPECT_EQ(gpu.sm_registers % (gpu.sm_partitions * gpu.warp_threads * gpu.register_step), 0) << named.name;
    EXPECT_EQ(gpu.arch.substr(0, 5), "sm_" + std::to_string(10 * gpu.capability_major + gpu.capability_minor)) << named.name;
    EXPECT_EQ(gpu.cluster_blocks > 0, gpu.capability_major >= 9) << named.name;
    // Tensor cores do 2048 (A100) and 4096 (H100) FLOP a clock and SM: the clock that the data sheet's speed implies is not above the highest.
    const double flops_per_clock = gpu.capability_major >= 9 ? 4096 : 2048;
    const double clock_hz = static_cast<double>(gpu.tensor_flops) / gpu.sms / flops_per_clock;
    EXPECT_LT(clock_hz, 1.01 * static_cast<double>(gpu.clock_hz)) << named.name;
    EXPECT_GT(clock_hz, 0.9 * static_cast<double>(gpu.clock_hz)) << named.name;
  }
  EXPECT_EQ(gpus, 3);
}

TEST(Devices, an_architecture_stands_for_a_gpu) {
  EXPECT_EQ(device_named("sm_80"), device_named("a100"));
  EXPECT_EQ(device_named("sm_90a"), device_named("h100"));
  EXPECT_EQ(find_device("sm_90a")->name, "h100");
  EXPECT_EQ(find_device("z80"), nullptr);
  std::set<std::string> names;
  std::size_t said = 0;
  for (const NamedDevice& named : named_devices()) {
    names.insert(named.name);
    names.insert(named.aliases.begin(), named.aliases.end());
    said += 1 + named.aliases.size();
  }
  EXPECT_EQ(names.size(), said);
}

TEST(Devices, an_unknown_name_lists_those_there_are) {
  EXPECT_EQ(usage_error_of([] { device_named("z80"); }),
            "no device `z80`; there are a100 (sm_80), h100 (sm_90a), h200, sapphire_rapids, x86-64-v2, x86-64-v3, x86-64-v4, zen4");
}

TEST(Devices, a_data_sheet_is_found_by_model_and_identifies_nothing) {
  Device found = identity(device_named("h200"));
  EXPECT_EQ(found.gpu->memory_bytes_per_s, 0);
  EXPECT_EQ(digest(found), digest(device_named("h200")));
  EXPECT_EQ(with_data_sheet(found), device_named("h200"));
  EXPECT_EQ(find_gpu_model("NVIDIA H200"), find_device("h200"));
  EXPECT_EQ(find_gpu_model("zen4"), nullptr);
  found.model = "NVIDIA H900";
  EXPECT_EQ(with_data_sheet(found), found);
  EXPECT_EQ(with_data_sheet(device_named("zen4")), device_named("zen4"));
}

TEST(Devices, what_is_written_for_cpus_refuses_a_gpu_by_name) {
  const Algorithm algorithm = tests::product();
  const Problem problem = resolve(parse_problem_text("product(m=70, n=96, k=40)"), algorithm);
  const Device& gpu = device_named("h200");
  EXPECT_EQ(usage_error_of([&] { sketch(algorithm, problem, gpu); }), "the space `sketch` is built for CPUs; NVIDIA H200 is a GPU");
  EXPECT_EQ(usage_error_of([&] { Editor(algorithm, problem, gpu); }), "the search by edits is built for CPUs; NVIDIA H200 is a GPU");
  EXPECT_EQ(usage_error_of([&] { any_extent_schedule(algorithm, gpu); }), "the schedule for any extent is built for CPUs; NVIDIA H200 is a GPU");
}

}  // namespace
}  // namespace kiln::schedules
