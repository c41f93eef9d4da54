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

// No two numbers are the same.
Device sample_gpu() {
  Gpu gpu;
  gpu.arch = "sm_90a";
  gpu.capability_major = 9;
  gpu.capability_minor = 1;
  gpu.sms = 132;
  gpu.memory_bytes = 85899345920;
  gpu.l2_bytes = 52428800;
  gpu.sm_threads = 2048;
  gpu.sm_blocks = 32;
  gpu.sm_barriers = 64;
  gpu.sm_registers = 65536;
  gpu.sm_shared_bytes = 233472;
  gpu.sm_partitions = 4;
  gpu.warp_threads = 33;
  gpu.register_step = 8;
  gpu.shared_step_bytes = 128;
  gpu.block_threads = 1024;
  gpu.block_registers = 65535;
  gpu.block_shared_bytes = 232448;
  gpu.reserved_shared_bytes = 1025;
  gpu.cluster_blocks = 16;
  gpu.thread_registers = 255;
  gpu.memory_bytes_per_s = 3350000000000;
  gpu.clock_hz = 1980000000;
  gpu.tensor_flops = 989400000000000;
  Device device;
  device.vendor = "NVIDIA";
  device.model = "NVIDIA H100";
  device.gpu = gpu;
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

TEST(DeviceTest, a_gpu_prints_one_line_that_parses_back) {
  EXPECT_EQ(print(sample_gpu()),
            "gpu vendor=\"NVIDIA\" model=\"NVIDIA H100\" arch=sm_90a capability=9.1 sms=132 memory=85899345920 l2=52428800 sm_threads=2048 sm_blocks=32 "
            "sm_barriers=64 sm_registers=65536 sm_shared=233472 sm_partitions=4 warp_threads=33 register_step=8 shared_step=128 block_threads=1024 "
            "block_registers=65535 block_shared=232448 reserved_shared=1025 cluster_blocks=16 thread_registers=255 bandwidth=3350000000000 "
            "clock=1980000000 tensor_flops=989400000000000");
  EXPECT_EQ(parse_device(print(sample_gpu())), sample_gpu());
}

TEST(DeviceTest, every_field_changes_the_digest) {
  std::set<Digest> digests = {digest(sample())};
  const auto change = [&](auto&& mutate) {
    Device device = sample();
    mutate(device);
    digests.insert(digest(device));
  };
  change([](Device& d) { d.gpu.emplace(); });
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

TEST(DeviceTest, every_field_of_a_gpu_but_its_data_sheet_changes_the_digest) {
  std::set<Digest> digests = {digest(sample_gpu())};
  const auto change = [&](auto&& mutate) {
    Device device = sample_gpu();
    mutate(device, *device.gpu);
    digests.insert(digest(device));
  };
  change([](Device& d, Gpu&) { d.vendor += "x"; });
  change([](Device& d, Gpu&) { d.model += "x"; });
  change([](Device&, Gpu& g) { g.arch = "sm_90"; });
  for (int Gpu::*member : {&Gpu::capability_major, &Gpu::capability_minor, &Gpu::sms, &Gpu::sm_threads, &Gpu::sm_blocks, &Gpu::sm_barriers,
                           &Gpu::sm_partitions, &Gpu::warp_threads, &Gpu::register_step, &Gpu::block_threads, &Gpu::cluster_blocks, &Gpu::thread_registers})
    change([&](Device&, Gpu& g) { ++(g.*member); });
  for (std::int64_t Gpu::*member : {&Gpu::memory_bytes, &Gpu::l2_bytes, &Gpu::sm_registers, &Gpu::sm_shared_bytes, &Gpu::shared_step_bytes,
                                    &Gpu::block_registers, &Gpu::block_shared_bytes, &Gpu::reserved_shared_bytes})
    change([&](Device&, Gpu& g) { ++(g.*member); });
  EXPECT_EQ(digests.size(), 24u);
  for (std::int64_t Gpu::*member : {&Gpu::memory_bytes_per_s, &Gpu::clock_hz, &Gpu::tensor_flops}) change([&](Device&, Gpu& g) { ++(g.*member); });
  EXPECT_EQ(digests.size(), 24u);
}

TEST(DeviceTest, what_cannot_be_read_is_named) {
  constexpr const char* kKeys = "vendor, model, family, model_number, stepping, features, cores, l1, l2, l3, vector_bytes, vector_registers";
  EXPECT_EQ(error_of("tpu vendor=\"x\""), "device, column 1: expected 'cpu' or 'gpu', found 'tpu'");
  EXPECT_EQ(error_of("cpu speed=3"), std::string("device, column 5: unknown key 'speed'; the keys are ") + kKeys);
  EXPECT_EQ(error_of("cpu cores=two"), "device, column 11: 'cores' expects a number that is not negative, found 'two'");
  EXPECT_EQ(error_of("cpu cores 2"), "device, column 10: expected '=' after 'cores', found ' '");
  EXPECT_EQ(error_of("cpu vendor=\"x"), "device, column 12: the text of 'vendor' has no closing quote");
  EXPECT_EQ(error_of("cpu cores=2 cores=3"), "device, column 13: 'cores' is given twice");
  EXPECT_EQ(error_of("cpu features=b,a"), "device, column 14: 'features' expects sorted names joined by commas, found 'b,a'");
  EXPECT_EQ(error_of("cpu vendor=\"x\""), std::string("device, column 15: 'model' is missing; the keys are ") + kKeys);
}

TEST(DeviceTest, what_cannot_be_read_of_a_gpu_is_named) {
  constexpr const char* kKeys =
      "vendor, model, arch, capability, sms, memory, l2, sm_threads, sm_blocks, sm_barriers, sm_registers, sm_shared, sm_partitions, warp_threads, "
      "register_step, shared_step, block_threads, block_registers, block_shared, reserved_shared, cluster_blocks, thread_registers, bandwidth, clock, "
      "tensor_flops";
  EXPECT_EQ(error_of("gpu cores=2"), std::string("device, column 5: unknown key 'cores'; the keys are ") + kKeys);
  EXPECT_EQ(error_of("gpu sms=-1"), "device, column 9: 'sms' expects a number that is not negative, found '-1'");
  EXPECT_EQ(error_of("gpu arch=sm-90"), "device, column 10: 'arch' expects a word, as in sm_90a, found 'sm-90'");
  EXPECT_EQ(error_of("gpu capability=9"), "device, column 16: 'capability' expects a version, as in 9.0, found '9'");
  EXPECT_EQ(error_of("gpu vendor=\"x\""), std::string("device, column 15: 'model' is missing; the keys are ") + kKeys);
}

TEST(DeviceTest, what_serves_cpus_alone_names_the_gpu) {
  require_cpu(sample(), "this");
  try {
    require_cpu(sample_gpu(), "the space `sketch`");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "the space `sketch` is built for CPUs; NVIDIA H100 is a GPU");
  }
}

}  // namespace
}  // namespace kiln
