// A package with kernels for a GPU: without a driver, and over one that remembers what it is told.
#include "generators/package/write.h"

#include <dlfcn.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "generators/cuda/driver/api.h"
#include "generators/runtime/dlpack_view.h"
#include "generators/runtime/set_numbers.h"
#include "tests/db/temporary_folder.h"
#include "tests/generators/package/plain_set.h"

namespace kiln::generators::package {
namespace {

using cuda::driver::LaunchShape;

struct Plan {
  std::uint32_t size;
  std::int32_t tier, variant;
  std::uint32_t reserved;
  std::uint64_t workspace_bytes, launches_plainly, opaque[124];
};

// What a launch was told.
struct Launched {
  std::string kernel;
  unsigned blocks = 0, threads = 0, shared_bytes = 0, attributes = 0;
  void* stream = nullptr;
  std::vector<std::uint64_t> words;
};
std::vector<Launched> launched;

void hear(const char* kernel, const LaunchShape* shape, void** arguments) {
  const std::size_t parameters = std::strcmp(kernel, "scaled_sums") == 0 ? 3 : 5;
  Launched one{kernel, shape->grid[0], shape->threads[0], shape->shared_bytes, shape->attribute_count, shape->stream, {}};
  for (std::size_t i = 0; i < parameters; ++i) {
    std::uint64_t word = 0;
    const bool is_short = (parameters == 3 && i == 2) || (parameters == 5 && i == 2);  // a count and a float
    std::memcpy(&word, arguments[i], is_short ? 4 : 8);
    one.words.push_back(word);
  }
  launched.push_back(one);
}

class GpuPackage : public testing::Test {
 protected:
  GpuPackage() : driver_(dlopen("libcuda.so.1", RTLD_NOW)), library_(dlopen(package().c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (fake_reset() != nullptr) fake_reset()();
    launched.clear();
    EXPECT_EQ(function<int (*)(const void*)>("fast_load")(nullptr), 0);
  }
  ~GpuPackage() override {
    EXPECT_EQ(function<int (*)()>("fast_unload")(), 0);
    dlclose(library_);
  }

  // Its library; compiled once.
  static std::string package() {
    static const db::TemporaryFolder folder;
    static const bool is_written = (write(tests::gpu_set(), folder.file("fast")), true);
    return is_written ? folder.file("fast/lib/libfast.so.1") : "";
  }

  bool has_fake() const { return driver_ != nullptr && fake_reset() != nullptr; }
  void (*fake_reset() const)() { return driver_ == nullptr ? nullptr : reinterpret_cast<void (*)()>(dlsym(driver_, "fake_reset")); }
  std::string calls() const { return reinterpret_cast<const char* (*)()>(dlsym(driver_, "fake_calls"))(); }
  void attribute(int number, int value) const { reinterpret_cast<void (*)(int, int)>(dlsym(driver_, "fake_attribute"))(number, value); }
  void fail(const char* name, int status) const { reinterpret_cast<void (*)(const char*, int)>(dlsym(driver_, "fake_fail"))(name, status); }
  void listen() const { reinterpret_cast<void (*)(decltype(&hear))>(dlsym(driver_, "fake_on_launch"))(&hear); }

  template <typename Function>
  Function function(const std::string& name) const {
    return reinterpret_cast<Function>(dlsym(library_, name.c_str()));
  }

  // "0", or the code with its sentence.
  std::string told(int code) const { return code == 0 ? "0" : std::to_string(code) + " " + function<const char* (*)()>("fast_last_error")(); }

  std::string load_device(int device) const { return told(function<int (*)(int)>("fast_load_device")(device)); }

  struct Call {
    std::vector<std::int64_t> shape = {4, 64}, strides = {};
    DLDevice x_device{kDLCUDA, 0}, y_device{kDLCUDA, 0};
  };
  std::string plan(const Call& call) {
    const auto view = [&call](std::uint64_t address, DLDevice device) {
      DLTensor tensor{};
      tensor.data = reinterpret_cast<void*>(address);
      tensor.device = device;
      tensor.ndim = 2;
      tensor.dtype = {kDLBfloat, 16, 1};
      tensor.shape = const_cast<std::int64_t*>(call.shape.data());
      tensor.strides = call.strides.empty() ? nullptr : const_cast<std::int64_t*>(call.strides.data());
      return tensor;
    };
    const DLTensor x = view(kX, call.x_device), y = view(kY, call.y_device);
    return told(function<int (*)(const DLTensor*, const DLTensor*, Plan*)>("fast_scaled_plan")(&x, &y, &plan_));
  }
  std::string run(std::uint64_t workspace, std::size_t bytes) const {
    const auto run = function<int (*)(const Plan*, const void*, float, void*, void*, std::size_t, void*)>("fast_scaled_run");
    return told(run(&plan_, reinterpret_cast<void*>(kX), 1.5f, reinterpret_cast<void*>(kY), reinterpret_cast<void*>(workspace), bytes, reinterpret_cast<void*>(kStream)));
  }
  int supports(const std::vector<std::int64_t>& extents, DLDevice device) const {
    return function<int (*)(const char*, const std::int64_t*, DLDevice)>("fast_supports")("scaled", extents.data(), device);
  }

  static constexpr std::uint64_t kX = 0x100000, kY = 0x200000, kStream = 0x77, kWorkspace = 0x300000;
  void* driver_;
  void* library_;
  Plan plan_{};
};

using WithoutDriver = GpuPackage;
using OverDriver = GpuPackage;

TEST_F(WithoutDriver, the_set_loads_and_says_what_is_missing) {
  if (driver_ != nullptr) GTEST_SKIP() << "a CUDA driver is here";
  EXPECT_EQ(load_device(0), "-18 scaled: there is no CUDA driver: libcuda.so.1: cannot open shared object file: No such file or directory");
  EXPECT_EQ(plan({}), "-18 scaled: there is no CUDA driver: libcuda.so.1: cannot open shared object file: No such file or directory");
}

TEST_F(OverDriver, kernels_are_launched_by_their_formulas) {
  if (!has_fake()) GTEST_SKIP() << "the fake driver is not in LD_LIBRARY_PATH";
  listen();
  EXPECT_EQ(load_device(0), "0");
  EXPECT_EQ(calls(),
            "cuInit; cuDeviceGetCount; cuDeviceGet 0; cuDeviceGetAttribute 75; cuDeviceGetAttribute 76; cuDeviceGetAttribute 16; cuDevicePrimaryCtxRetain 40; cuCtxPushCurrent; "
            "cuLibraryLoadData; cuLibraryGetKernel scaled_sums; cuKernelGetFunction; cuLibraryGetKernel scaled_y; cuKernelGetFunction; cuFuncSetAttribute 8 to 65536; "
            "cuCtxPopCurrent");
  EXPECT_EQ(plan({}), "0");
  EXPECT_EQ(calls(), "") << "all was loaded";
  EXPECT_EQ(plan_.tier, KILN_TIER_EXACT);
  EXPECT_EQ(plan_.workspace_bytes, 256u);
  EXPECT_EQ(run(kWorkspace, 256), "0");
  ASSERT_EQ(launched.size(), 2u);
  EXPECT_EQ(launched[0].kernel, "scaled_sums");
  EXPECT_EQ(launched[0].blocks, 2u);
  EXPECT_EQ(launched[0].threads, 64u);
  EXPECT_EQ(launched[0].attributes, 0u);
  EXPECT_EQ(launched[0].stream, reinterpret_cast<void*>(kStream));
  EXPECT_EQ(launched[0].words, (std::vector<std::uint64_t>{kX, kWorkspace, 64}));
  EXPECT_EQ(launched[1].kernel, "scaled_y");
  EXPECT_EQ(launched[1].blocks, 2u * 4 * 3) << "cluster x rows x three times 64 columns by 64";
  EXPECT_EQ(launched[1].shared_bytes, 65536u);
  EXPECT_EQ(launched[1].attributes, 1u) << "a dependent launch";
  EXPECT_EQ(launched[1].words, (std::vector<std::uint64_t>{kX, kWorkspace, 0x3fc00000, kY, 256}));
  EXPECT_NE(calls().find("cuTensorMapEncodeTiled 9 at 1048576 64/64/1 4/32/1 pitch 128 0 3 2 0"), std::string::npos) << "two rows of 128 bytes, swizzled by 128, fetched by 128";
}

TEST_F(OverDriver, a_plan_may_ask_for_plain_launches) {
  if (!has_fake()) GTEST_SKIP() << "the fake driver is not in LD_LIBRARY_PATH";
  listen();
  EXPECT_EQ(plan({}), "0");
  EXPECT_EQ(plan_.launches_plainly, 0u);
  plan_.launches_plainly = 1;
  EXPECT_EQ(run(kWorkspace, 256), "0");
  ASSERT_EQ(launched.size(), 2u);
  EXPECT_EQ(launched[0].attributes, 0u);
  EXPECT_EQ(launched[1].attributes, 0u);
}

TEST_F(OverDriver, blocks_that_go_on_are_no_more_than_run_at_once) {
  if (!has_fake()) GTEST_SKIP() << "the fake driver is not in LD_LIBRARY_PATH";
  constexpr int kMultiprocessors = 16;
  attribute(kMultiprocessors, 3);
  listen();
  EXPECT_EQ(plan({.shape = {9, 64}}), "0");
  EXPECT_EQ(run(kWorkspace, 256), "0");
  ASSERT_EQ(launched.size(), 2u);
  EXPECT_EQ(launched[0].blocks, 3u) << "of five for nine rows";
  EXPECT_EQ(launched[1].blocks, 2u * 9 * 3);
}

TEST_F(OverDriver, calls_on_other_extents_are_served_by_their_interval) {
  if (!has_fake()) GTEST_SKIP() << "the fake driver is not in LD_LIBRARY_PATH";
  EXPECT_EQ(plan({.shape = {7, 96}}), "0");
  EXPECT_EQ(plan_.tier, KILN_TIER_BUCKET);
  EXPECT_EQ(plan({.shape = {7, 20}}), "-12 scaled: dimension 1 of x has 20 elements, a multiple of 8 is needed");
  EXPECT_EQ(plan({.shape = {7, 136}}), "-12 scaled: dimension 1 of x has 136 elements, the kernel's threads cover 128");
  EXPECT_EQ(plan({.shape = {12, 64}}), "-12 scaled: no variant is built for m=12, n=64");
  EXPECT_EQ(supports({4, 64}, {kDLCUDA, 0}), KILN_TIER_EXACT);
  EXPECT_EQ(supports({4, 64}, {kDLCPU, 0}), KILN_ERR_NO_VARIANT);
}

TEST_F(OverDriver, what_a_kernel_cannot_take_is_refused_by_name) {
  if (!has_fake()) GTEST_SKIP() << "the fake driver is not in LD_LIBRARY_PATH";
  EXPECT_EQ(plan({.strides = {72, 1}}), "-7 scaled: dimension 0 of x has stride 72, 64 is needed: kernels for GPUs take dense arguments");
  EXPECT_EQ(plan({.x_device = {kDLCPU, 0}}), "-4 scaled: argument x is on cpu, a CUDA device is needed");
  EXPECT_EQ(plan({.y_device = {kDLCUDA, 1}}), "-5 scaled: argument x is on cuda:0 and argument y on cuda:1");
  EXPECT_EQ(plan({.x_device = {kDLCUDA, 1}, .y_device = {kDLCUDA, 1}}), "-4 scaled: there is no cuda:1; this process sees 1");
  EXPECT_EQ(plan({}), "0");
  EXPECT_EQ(run(0, 0), "-14 scaled: workspace is NULL, 256 bytes are needed");
  EXPECT_EQ(run(kWorkspace, 255), "-14 scaled: the workspace has 255 bytes, 256 are needed");
  EXPECT_EQ(run(kWorkspace + 16, 256), "-8 scaled: the workspace is 16 bytes past a multiple of 256");
  fail("cuLaunchKernelEx", 2);
  EXPECT_EQ(run(kWorkspace, 256), "-18 scaled: scaled_sums: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
}

TEST_F(OverDriver, another_gpu_has_no_image) {
  if (!has_fake()) GTEST_SKIP() << "the fake driver is not in LD_LIBRARY_PATH";
  constexpr int kMajor = 75, kMinor = 76;
  attribute(kMajor, 10);
  attribute(kMinor, 0);
  EXPECT_EQ(plan({}), "-13 scaled: cuda:0 has compute capability 10.0, the kernel is for sm_90a");
  EXPECT_EQ(load_device(0), "-13 scaled: cuda:0 has compute capability 10.0, the kernel is for sm_90a");
}

TEST_F(OverDriver, a_load_inside_a_capture_says_what_to_do) {
  if (!has_fake()) GTEST_SKIP() << "the fake driver is not in LD_LIBRARY_PATH";
  fail("cuLibraryLoadData", 900);
  EXPECT_EQ(plan({}), "-15 scaled: cuLibraryLoadData: unknown error (?, 900); load_device before the capture begins makes the kernels ready");
}

TEST(GpuEntry, an_axis_without_a_symbol_is_refused) {
  KernelSet set = tests::gpu_set();
  set.entries[0].symbols[1].axes.pop_back();
  name_entries(set);
  try {
    check(set);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "entry scaled(bf16): dimension 0 of y has no symbol, and a GPU's kernel is checked by symbols");
  }
}

}  // namespace
}  // namespace kiln::generators::package
