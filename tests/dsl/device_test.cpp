#include "dsl/device.h"

#include <gtest/gtest.h>

#include <set>

#include "dsl/error.h"

namespace kiln {
namespace {

Device sample() {
  Device device;
  device.vendor = "GenuineIntel";
  device.model = "A \"quoted\" CPU \\ 3.0GHz";
  device.family = 6;
  device.model_number = 143;
  device.stepping = 8;
  device.features = {"avx", "avx2", "fma"};
  device.cores = 2;
  device.l1_bytes = 49152;
  device.l2_bytes = 2097152;
  device.l3_bytes = 110100480;
  device.vector_bytes = 32;
  device.vector_registers = 16;
  return device;
}

std::string error_of(const std::string& text) {
  try {
    parse_device(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(DeviceTest, prints_one_line_that_parses_back) {
  EXPECT_EQ(print(sample()),
            "cpu vendor=\"GenuineIntel\" model=\"A \\\"quoted\\\" CPU \\\\ 3.0GHz\" family=6 model_number=143 stepping=8 features=avx,avx2,fma cores=2 "
            "l1=49152 l2=2097152 l3=110100480 vector_bytes=32 vector_registers=16");
  EXPECT_EQ(parse_device(print(sample())), sample());
  EXPECT_EQ(parse_device(print(Device{})), Device{});
}

TEST(DeviceTest, every_field_changes_the_digest) {
  std::set<Digest> digests = {digest(sample())};
  const auto change = [&](auto&& mutate) {
    Device device = sample();
    mutate(device);
    digests.insert(digest(device));
  };
  change([](Device& d) { d.kind = "gpu"; });
  change([](Device& d) { d.vendor += "x"; });
  change([](Device& d) { d.model += "x"; });
  change([](Device& d) { ++d.family; });
  change([](Device& d) { ++d.model_number; });
  change([](Device& d) { ++d.stepping; });
  change([](Device& d) { d.features.pop_back(); });
  change([](Device& d) { ++d.cores; });
  change([](Device& d) { ++d.l1_bytes; });
  change([](Device& d) { ++d.l2_bytes; });
  change([](Device& d) { ++d.l3_bytes; });
  change([](Device& d) { ++d.vector_bytes; });
  change([](Device& d) { ++d.vector_registers; });
  EXPECT_EQ(digests.size(), 14u);
}

TEST(DeviceTest, what_cannot_be_read_is_named) {
  constexpr const char* kKeys = "vendor, model, family, model_number, stepping, features, cores, l1, l2, l3, vector_bytes, vector_registers";
  EXPECT_EQ(error_of("gpu vendor=\"x\""), "device, column 1: expected 'cpu', found 'gpu'");
  EXPECT_EQ(error_of("cpu speed=3"), std::string("device, column 5: unknown key 'speed'; the keys are ") + kKeys);
  EXPECT_EQ(error_of("cpu cores=two"), "device, column 11: 'cores' expects a number that is not negative, found 'two'");
  EXPECT_EQ(error_of("cpu cores 2"), "device, column 10: expected '=' after 'cores', found ' '");
  EXPECT_EQ(error_of("cpu vendor=\"x"), "device, column 12: the text of 'vendor' has no closing quote");
  EXPECT_EQ(error_of("cpu cores=2 cores=3"), "device, column 13: 'cores' is given twice");
  EXPECT_EQ(error_of("cpu features=b,a"), "device, column 14: 'features' expects sorted names joined by commas, found 'b,a'");
  EXPECT_EQ(error_of("cpu vendor=\"x\""), std::string("device, column 15: 'model' is missing; the keys are ") + kKeys);
}

}  // namespace
}  // namespace kiln
