#include "schedules/devices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dsl/error.h"

namespace kiln::schedules {
namespace {

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
    const auto& features = named.device.features;
    const bool wide = std::count(features.begin(), features.end(), "avx512") > 0, avx = std::count(features.begin(), features.end(), "avx") > 0;
    EXPECT_EQ(named.device.vector_bytes, wide ? 64 : avx ? 32 : 16) << named.name;
    EXPECT_EQ(named.device.vector_registers, wide ? 32 : 16) << named.name;
  }
}

TEST(Devices, an_unknown_name_lists_those_there_are) {
  try {
    device_named("z80");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no device `z80`; there are sapphire_rapids, x86-64-v2, x86-64-v3, x86-64-v4, zen4");
  }
}

}  // namespace
}  // namespace kiln::schedules
