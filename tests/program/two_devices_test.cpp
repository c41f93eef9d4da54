// One set for a CPU and a GPU, from a store that holds choices for both: the programs as a user starts them, the GPU by a driver that computes swiglu on the CPU.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "generators/runtime/dlpack_view.h"
#include "generators/runtime/set_numbers.h"
#include "tests/program/stored.h"
#include "tests/support/run_kiln.h"

namespace kiln::tests {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kRows = 24, kColumns = 512;

// A folder with a store in which both have been tuned, briefly; made once.
class TwoDevices : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new db::TemporaryFolder;
    const std::vector<std::string> tune = {"tune", "swiglu", "--problem", "swiglu(m=24, n=512)", "--for", "5s", "--wait"};
    on_cpu_ = run_kiln(*folder_, tune);
    std::vector<std::string> on_a_gpu = tune;
    on_a_gpu.insert(on_a_gpu.end(), {"--device", "cuda:0"});
    ::setenv("LD_LIBRARY_PATH", KILN_BINARY_DIR "/fake_gpu", 1);
    on_gpu_ = run_kiln(*folder_, on_a_gpu);
    ::unsetenv("LD_LIBRARY_PATH");
  }
  static void TearDownTestSuite() { delete folder_; }
  void SetUp() override {
    ASSERT_EQ(on_cpu_.code, 0) << on_cpu_.err;
    ASSERT_EQ(on_gpu_.code, 0) << on_gpu_.err;
  }

  static std::string device(const std::string& kind) {
    db::Store store(folder_->file("kiln.db"));
    db::Statement row = store.connection().query("SELECT lower(hex(digest)) FROM device WHERE kind = ?1", kind);
    return row.step() ? row.text(0).substr(0, 12) : "";
  }
  static Said export_both(const std::string& to) {
    return run_kiln(*folder_, {"export", "--set", "both", "-o", to, "--device", device("cpu"), "--device", device("cuda")});
  }

  static inline db::TemporaryFolder* folder_ = nullptr;
  static inline Said on_cpu_, on_gpu_;
};

TEST_F(TwoDevices, have_to_be_named) {
  const Said said = run_kiln(*folder_, {"export", "--set", "both", "-o", "unnamed"});
  EXPECT_EQ(said.code, 2);
  EXPECT_NE(said.err.find("choices for several devices are in force; name those to pack with --device, which may be repeated:\n"), std::string::npos) << said.err;
  for (const char* kind : {"cpu", "cuda"}) EXPECT_NE(said.err.find("\n  " + device(kind) + "  "), std::string::npos) << said.err;
}

TEST_F(TwoDevices, have_a_variant_each_in_one_entry) {
  const Said said = export_both("named");
  ASSERT_EQ(said.code, 0) << said.err;
  const Json entries = Json::parse(text_of(folder_->file("named/share/both/manifest.json")))["entries"];
  ASSERT_EQ(entries.size(), 1u);
  std::map<std::string, std::string> exact;  // device -> target
  for (const Json& variant : entries[0]["variants"])
    if (variant["tier"] == "exact") exact[variant["measured"][0]["device"]] = variant["target"];
  ASSERT_EQ(exact.size(), 2u) << entries;
  EXPECT_EQ(exact[device("cpu")].substr(0, 12), "x86-64-linux");
  EXPECT_EQ(exact[device("cuda")], "cuda-sm_90a-unfused");
}

// On a machine without the GPU its variant is packed as it is; with it, called through the package too.
TEST_F(TwoDevices, are_both_called_where_both_are) {
  const Said without = export_both("without");
  int packed = 0;  // how many there are follows from the time that the run had to check a bucket
  const Json manifest = Json::parse(text_of(folder_->file("without/share/both/manifest.json")));
  for (const Json& variant : manifest["entries"][0]["variants"]) packed += variant["target"].get<std::string>().starts_with("cuda");
  EXPECT_GT(packed, 0);
  EXPECT_NE(without.out.find(fmt::format("\n{} variants for GPUs are packed as they were checked and measured: no such GPU is here to call them on\n", packed)), std::string::npos) << without.out;
  ::setenv("LD_LIBRARY_PATH", KILN_BINARY_DIR "/fake_gpu", 1);
  const Said with = export_both("with");
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_EQ(with.out.find("packed as they were"), std::string::npos) << with.out;
  EXPECT_EQ(text_of(folder_->file("with/lib/libboth.so.1")), text_of(folder_->file("without/lib/libboth.so.1")));
}

TEST_F(TwoDevices, are_served_by_a_library_that_needs_no_gpu_on_the_cpu) {
  ASSERT_EQ(export_both("served").code, 0);
  void* library = dlopen(folder_->file("served/lib/libboth.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto load = reinterpret_cast<int (*)(const void*)>(dlsym(library, "both_load"));
  const auto unload = reinterpret_cast<int (*)()>(dlsym(library, "both_unload"));
  const auto supports = reinterpret_cast<int (*)(const char*, const std::int64_t*, DLDevice)>(dlsym(library, "both_supports"));
  const auto call = reinterpret_cast<int (*)(const DLTensor*, const DLTensor*, const DLTensor*, void*, std::size_t, void*)>(dlsym(library, "both_swiglu"));
  const auto last_error = reinterpret_cast<const char* (*)()>(dlsym(library, "both_last_error"));
  ASSERT_EQ(load(nullptr), 0);
  const std::int64_t extents[] = {kRows, kColumns};
  EXPECT_EQ(supports("swiglu", extents, {kDLCPU, 0}), KILN_TIER_EXACT);

  std::vector<float> g(kRows * kColumns), u(g.size()), y(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    g[i] = static_cast<float>(i % 17) - 8;
    u[i] = static_cast<float>(i % 5);
  }
  std::int64_t shape[] = {kRows, kColumns};
  const auto view = [&shape](std::vector<float>& of, DLDeviceType device) {
    return DLTensor{.data = of.data(), .device = {device, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = shape, .strides = nullptr, .byte_offset = 0};
  };
  const DLTensor in = view(g, kDLCPU), by = view(u, kDLCPU), out = view(y, kDLCPU);
  ASSERT_EQ(call(&in, &by, &out, nullptr, 0, nullptr), 0) << last_error();
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], g[i] / (1 + std::exp(-g[i])) * u[i], 1e-4F) << i;

  const DLTensor there = view(g, kDLCUDA), by_there = view(u, kDLCUDA), out_there = view(y, kDLCUDA);
  if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr) {
    EXPECT_EQ(call(&there, &by_there, &out_there, nullptr, 0, nullptr), KILN_ERR_DRIVER);
  }
  EXPECT_EQ(unload(), 0);
  dlclose(library);
}

}  // namespace
}  // namespace kiln::tests
