#include <gtest/gtest.h>

#include <cstring>

#include "generators/cuda/driver/hold.h"
#include "generators/cuda/driver/memory.h"
#include "generators/cuda/driver/stream.h"
#include "generators/cuda/driver/tensor_map.h"
#include "tests/generators/cuda/driver/fake_cuda.h"

namespace kiln::generators::cuda::driver {
namespace {

class Launches : public testing::Test {
 protected:
  Launches() { fake.calls(); }

  template <typename Work>
  std::string error_of(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  FakeCuda fake;
  OpenDevice device{fake.driver(), 0};
};

TEST_F(Launches, memory_is_freed_once) {
  {
    DeviceMemory first(device, 64);
    EXPECT_EQ(first.bytes(), 64u);
    const Address address = first.address();
    const DeviceMemory moved(std::move(first));
    EXPECT_EQ(moved.address(), address);
    EXPECT_EQ(fake.calls(), "cuMemAlloc 64");
  }
  EXPECT_EQ(fake.calls(), "cuMemFree");
  fake.fail("cuMemAlloc", 2);
  EXPECT_EQ(error_of([&] { DeviceMemory(device, 1099511627776); }), "cuMemAlloc of 1099511627776 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
  EXPECT_EQ(fake.calls(), "cuMemAlloc 1099511627776");
}

TEST_F(Launches, copies_are_done_when_they_return) {
  const DeviceMemory memory(device, 8);
  const Stream stream(device);
  fake.calls();
  char sent[8] = "1234567", received[8] = {};
  stream.write(memory.address(), sent, sizeof sent);
  EXPECT_EQ(fake.calls(), "cuMemcpyHtoDAsync 8; cuStreamSynchronize");
  stream.fill(memory.address(), 'x', 2);
  EXPECT_EQ(fake.calls(), "cuMemsetD8Async 2");
  stream.read(received, memory.address(), sizeof received);
  EXPECT_EQ(fake.calls(), "cuMemcpyDtoHAsync 8; cuStreamSynchronize");
  EXPECT_STREQ(received, "xx34567");
}

TEST_F(Launches, a_kernel_keeps_its_cubin_and_the_device) {
  {
    std::unique_ptr<Kernel> kernel;
    {
      const LoadedCubin cubin(device, "bytes");
      kernel = std::make_unique<Kernel>(cubin.kernel("ring"));
    }
    EXPECT_EQ(fake.calls(), "cuLibraryLoadData; cuLibraryGetKernel ring; cuKernelGetFunction");
    EXPECT_EQ(kernel->facts(), (KernelFacts{1004, 1003, 1001, 1002, 1000, 1006}));
    EXPECT_EQ(kernel->parameter_bytes(), (std::vector<std::size_t>{8, 8, 128}));
    fake.calls();
    kernel->allow_shared_bytes(232448);
    EXPECT_EQ(fake.calls(), "cuFuncSetAttribute 8 to 232448");
    EXPECT_EQ(kernel->blocks_per_sm(256, 1024), 2);
    EXPECT_EQ(kernel->clusters_at_once({.grid = 132, .cluster = 2, .threads = 384, .shared_bytes = 1024}), 66);
    EXPECT_EQ(fake.calls(), "cuOccupancyMaxActiveBlocksPerMultiprocessor 256 1024; cuOccupancyMaxActiveClusters 132x1x1 blocks of 384x1x1 with 1024 cluster 2x1x1");
  }
  EXPECT_EQ(fake.calls(), "cuLibraryUnload");
  fake.fail("cuLibraryGetKernel", 500);
  EXPECT_EQ(error_of([&] { LoadedCubin(device, "bytes").kernel("absent"); }), "cuLibraryGetKernel of absent: unknown error (500)");
  EXPECT_EQ(fake.calls(), "cuLibraryLoadData; cuLibraryGetKernel absent; cuLibraryUnload");
}

TEST_F(Launches, a_launch_has_only_the_attributes_that_it_needs) {
  const Kernel kernel = LoadedCubin(device, "bytes").kernel("ring");
  const Stream stream(device);
  EXPECT_NE(fake.calls().find("cuStreamCreate 1"), std::string::npos);  // not behind the default stream
  const auto launched = [&](const Launch& launch) {
    stream.launch(kernel, launch, nullptr);
    return fake.calls();
  };
  EXPECT_EQ(launched({.grid = 7, .threads = 96}), "cuLaunchKernelEx 7x1x1 blocks of 96x1x1 with 0");
  EXPECT_EQ(launched({.grid = 8, .cluster = 2, .threads = 384, .shared_bytes = 230464}),
            "cuLaunchKernelEx 8x1x1 blocks of 384x1x1 with 230464 cluster 2x1x1");
  EXPECT_EQ(launched({.is_dependent = true}), "cuLaunchKernelEx 1x1x1 blocks of 128x1x1 with 0 serialized 1");
  EXPECT_EQ(launched({.grid = 4, .cluster = 4, .is_dependent = true}), "cuLaunchKernelEx 4x1x1 blocks of 128x1x1 with 0 cluster 4x1x1 serialized 1");
  fake.fail("cuLaunchKernelEx", 2);
  EXPECT_EQ(error_of([&] { stream.launch(kernel, {.grid = 8, .cluster = 2, .threads = 384, .shared_bytes = 230464}, nullptr); }),
            "cuLaunchKernelEx of ring with 8 blocks of 384 threads, clusters of 2 and 230464 bytes of dynamic shared memory: out of memory "
            "(CUDA_ERROR_OUT_OF_MEMORY, 2)");
}

TEST_F(Launches, a_graph_is_captured_and_launched_as_one) {
  const Kernel kernel = LoadedCubin(device, "bytes").kernel("ring");
  const Stream stream(device);
  fake.calls();
  {
    const Graph graph = stream.capture([&] {
      stream.launch(kernel, {}, nullptr);
      stream.launch(kernel, {}, nullptr);
    });
    const std::string launch = "cuLaunchKernelEx 1x1x1 blocks of 128x1x1 with 0; ";
    EXPECT_EQ(fake.calls(), "cuStreamBeginCapture 1; " + launch + launch + "cuStreamEndCapture; cuGraphInstantiate; cuGraphDestroy");
    stream.launch(graph);
    stream.launch(graph);
    EXPECT_EQ(fake.calls(), "cuGraphLaunch; cuGraphLaunch");
  }
  EXPECT_EQ(fake.calls(), "cuGraphExecDestroy");
}

TEST_F(Launches, a_capture_that_fails_leaves_nothing_behind) {
  const Stream stream(device);
  fake.calls();
  EXPECT_EQ(error_of([&] { stream.capture([] { throw Error("no more"); }); }), "no more");
  EXPECT_EQ(fake.calls(), "cuStreamBeginCapture 1; cuStreamEndCapture; cuGraphDestroy");
  fake.fail("cuGraphInstantiate", 2);
  EXPECT_EQ(error_of([&] { stream.capture([] {}); }), "cuGraphInstantiate: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
  EXPECT_EQ(fake.calls(), "cuStreamBeginCapture 1; cuStreamEndCapture; cuGraphInstantiate; cuGraphDestroy");
}

TEST_F(Launches, what_is_not_ready_is_no_failure) {
  const Stream stream(device);
  const Event event(device);
  EXPECT_TRUE(stream.is_idle());
  EXPECT_TRUE(event.has_passed());
  fake.fail("cuStreamQuery", kNotReady);
  fake.fail("cuEventQuery", kNotReady);
  EXPECT_FALSE(stream.is_idle());
  EXPECT_FALSE(event.has_passed());
  fake.fail("cuStreamQuery", 2);
  fake.fail("cuEventQuery", 2);
  EXPECT_EQ(error_of([&] { stream.is_idle(); }), "cuStreamQuery: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
  EXPECT_EQ(error_of([&] { event.has_passed(); }), "cuEventQuery: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
}

TEST_F(Launches, events_mark_moments_of_streams) {
  {
    const Stream stream(device), other(device);
    const Event first(device), last(device);
    fake.calls();
    stream.record(first);
    other.wait_for(first);
    stream.record(last);
    last.wait();
    EXPECT_EQ(ns_between(first, last), 500000);
    EXPECT_EQ(fake.calls(), "cuEventRecord; cuStreamWaitEvent; cuEventRecord; cuEventSynchronize; cuEventElapsedTime");
  }
  EXPECT_EQ(fake.calls(), "cuEventDestroy; cuEventDestroy; cuStreamDestroy; cuStreamDestroy");
}

TEST_F(Launches, a_hold_is_one_thread_that_tells_the_clock) {
  const Stream stream(device);
  fake.calls();
  const Hold hold(device);
  EXPECT_EQ(fake.calls(), "cuLibraryLoadData; cuLibraryGetKernel kiln_hold; cuKernelGetFunction; cuMemAlloc 16");
  fake.sm_mhz(1755);
  hold.launch(stream, 20000);
  EXPECT_EQ(fake.calls(), "cuLaunchKernelEx hold 20000");
  EXPECT_EQ(hold.sm_mhz(stream), 1755);
  EXPECT_EQ(fake.calls(), "cuMemcpyDtoHAsync 16; cuStreamSynchronize");
  fake.fail("cuLibraryLoadData", 2);
  EXPECT_TRUE(error_of([&] { Hold another(device); }).starts_with("cuLibraryLoadData of ")) << error_of([&] { Hold another(device); });
}

TEST_F(Launches, a_tensor_map_is_encoded_in_cudas_numbers) {
  const TiledTensor tensor{.type = {TypeClass::brain_float, 16}, .address = 4096, .extents = {512, 100}, .pitches_bytes = {1024}, .box = {64, 128}};
  EXPECT_EQ(encode(device.driver(), tensor).bytes[127], 7);
  EXPECT_EQ(fake.calls(), "cuTensorMapEncodeTiled 9 at 4096 512/64/1 100/128/1 pitch 1024 0 3 0 0");
  TiledTensor other = tensor;
  other.type = {TypeClass::unsigned_int, 8};
  other.swizzle_bytes = 0;
  other.l2_promotion_bytes = 128;
  encode(device.driver(), other);
  EXPECT_EQ(fake.calls(), "cuTensorMapEncodeTiled 0 at 4096 512/64/1 100/128/1 pitch 1024 0 0 2 0");
  other.swizzle_bytes = 48;
  EXPECT_EQ(error_of([&] { encode(device.driver(), other); }), "a tensor copy has no swizzle of 48 bytes; there are 0, 32, 64 and 128");
  other.swizzle_bytes = 128;
  other.type = kBool;
  EXPECT_EQ(error_of([&] { encode(device.driver(), other); }), "a tensor copy has no elements of type bool");
}

}  // namespace
}  // namespace kiln::generators::cuda::driver
