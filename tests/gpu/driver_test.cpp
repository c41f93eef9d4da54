// The driver layer on a device, and the formulas of resources against what the driver counts.
#include <gtest/gtest.h>

#include "generators/cuda/compile/compile.h"
#include "generators/cuda/driver/memory.h"
#include "generators/cuda/resources/residency.h"
#include "hopper.h"
#include "missing.h"
#include "nvrtc.h"
#include "schedules/devices.h"

namespace kiln::gpu {
namespace {

using namespace generators::cuda::driver;
namespace compile = generators::cuda::compile;

// `add` is light, `churn` keeps 64 numbers in registers.
constexpr char kText[] = R"(#include "types.cuh"
#include "barriers.cuh"
extern "C" __global__ void add(u32* sums, u32 amount) {
  pdl_wait();
  sums[blockIdx.x * blockDim.x + threadIdx.x] += amount;
}
extern "C" __global__ void churn(float* values, u32 times) {
  float held[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) held[i] = values[64 * threadIdx.x + i];
  for (u32 t = 0; t < times; ++t) {
#pragma unroll
    for (int i = 0; i < 64; ++i) held[i] = held[i] * held[(i + 17) % 64] + held[(i + 41) % 64];
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) values[64 * threadIdx.x + i] = held[i];
})";

class OnDevice : public testing::Test {
 protected:
  void SetUp() override try {
    hopper();
    cubin_ = cubin_of(kText, "add");
  } catch (const Missing& missing) {
    GTEST_SKIP() << missing.what();
  }
  Kernel kernel(const std::string& name) const { return LoadedCubin(hopper(), cubin_).kernel(name); }
  Device device() const { return hopper().driver().device(0); }

  template <typename Work>
  std::string error_of(const Work& work) const {
    try {
      work();
    } catch (const DriverError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  std::string cubin_;
};

TEST_F(OnDevice, nvrtc_reports_the_resources_of_a_text_that_was_compiled_before) {
  const compile::Nvrtc nvrtc;
  const compile::Source source{.text = kText, .kernels = {"add", "churn"}};
  const compile::Compiled first = compile::compile(nvrtc, source), again = compile::compile(nvrtc, source);
  ASSERT_FALSE(again.rejection) << again.rejection->text;
  EXPECT_EQ(again.kernels, first.kernels);
}

TEST_F(OnDevice, a_device_of_a_known_model_is_what_its_data_sheet_says) {
  const Device found = device();
  std::printf("%s\n", print(found).c_str());
  EXPECT_EQ(parse_device(print(found)), found);
  for (const schedules::NamedDevice& named : schedules::named_devices()) {
    if (named.device.model != found.model) continue;
    EXPECT_EQ(print(identity(found)), print(identity(named.device)));
  }
}

TEST_F(OnDevice, residency_is_what_the_driver_counts) {
  const Gpu gpu = *device().gpu;
  for (const char* name : {"add", "churn"}) {
    const Kernel counted = kernel(name);
    const KernelFacts facts = counted.facts();
    EXPECT_EQ(facts.binary_version, 90);
    counted.allow_shared_bytes(static_cast<int>(gpu.block_shared_bytes) - facts.shared_bytes);
    for (const int threads : {32, 64, 96, 128, 160, 256, 384, 512, 640})
      for (const int shared_bytes : {0, 1, 1024, 16384, 49152, 76800, 115712, 115713, 232448 - facts.shared_bytes}) {
        const auto held =
            generators::cuda::resources::residency({.threads = threads, .registers = facts.registers, .shared_bytes = shared_bytes + facts.shared_bytes}, gpu);
        EXPECT_EQ(held.blocks, counted.blocks_per_sm(threads, static_cast<std::size_t>(shared_bytes)))
            << name << ", " << threads << " threads of " << facts.registers << " registers, " << shared_bytes << " bytes";
      }
  }
}

TEST_F(OnDevice, clusters_at_once_leave_no_sm_twice) {
  const int sms = device().gpu->sms;
  const Kernel counted = kernel("add");
  counted.allow_shared_bytes(232448);
  for (const unsigned blocks : {2u, 4u, 8u}) {
    const int clusters = counted.clusters_at_once({.grid = 8 * blocks, .cluster = blocks, .threads = 384, .shared_bytes = 200000});
    EXPECT_GT(clusters, 0) << blocks;
    EXPECT_LE(clusters * static_cast<int>(blocks), sms) << blocks;
    std::printf("clusters of %u at once: %d\n", blocks, clusters);
  }
}

TEST_F(OnDevice, a_graph_does_its_launches_each_time) {
  const Kernel add = kernel("add");
  EXPECT_EQ(add.parameter_bytes(), (std::vector<std::size_t>{8, 4}));
  const DeviceMemory sums(hopper(), 4 * 256);
  Address address = sums.address();
  std::uint32_t one = 1, ten = 10;
  void *with_one[] = {&address, &one}, *with_ten[] = {&address, &ten};
  stream().fill(address, 0, sums.bytes());
  const Graph graph = stream().capture([&] {
    stream().launch(add, {.grid = 2}, with_one);
    stream().launch(add, {.grid = 2, .cluster = 2, .is_dependent = true}, with_ten);
  });
  const Event before(hopper()), after(hopper());
  stream().record(before);
  for (int i = 0; i < 3; ++i) stream().launch(graph);
  stream().record(after);
  after.wait();
  EXPECT_TRUE(before.has_passed());
  EXPECT_GE(ns_between(before, after), 0);
  std::vector<std::uint32_t> found(256);
  stream().read(found.data(), address, sums.bytes());
  EXPECT_EQ(found, std::vector<std::uint32_t>(256, 33));
}

TEST_F(OnDevice, what_the_driver_refuses_is_told_in_its_words) {
  EXPECT_EQ(error_of([&] { kernel("absent"); }), "cuLibraryGetKernel of absent: named symbol not found (CUDA_ERROR_NOT_FOUND, 500)");
  EXPECT_EQ(error_of([&] { DeviceMemory(hopper(), std::size_t{1} << 50); }),
            "cuMemAlloc of 1125899906842624 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
  EXPECT_EQ(error_of([&] { stream().launch(kernel("add"), {.threads = 2048}, nullptr); }),
            "cuLaunchKernelEx of add with 1 blocks of 2048 threads, clusters of 1 and 0 bytes of dynamic shared memory: invalid argument "
            "(CUDA_ERROR_INVALID_VALUE, 1)");
}

}  // namespace
}  // namespace kiln::gpu
