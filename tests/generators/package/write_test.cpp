// Packages on disk, with real objects: what they export and import, that they are replaced whole, and each variant called through the library.
#include "generators/package/write.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "generators/package/opened.h"
#include "tests/db/temporary_folder.h"
#include "tests/generators/package/kernels.h"
#include "tests/generators/package/shell.h"

namespace kiln::generators::package {
namespace {

namespace fs = std::filesystem;
using tests::shell;

const KernelSet& night() {
  static const KernelSet set = tests::small_kernel_set("night");  // Halide takes a second
  return set;
}

std::set<std::string> words(const std::string& text, const char* pattern) {
  const std::regex word(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i) found.insert((*i)[1]);
  return found;
}

class Package : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new db::TemporaryFolder;
    write(night(), fs::path(folder_->file("night")));
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string path(const std::string& file) { return folder_->file(file); }
  static db::TemporaryFolder* folder_;
};
db::TemporaryFolder* Package::folder_ = nullptr;

TEST_F(Package, two_writes_of_one_set_are_equal_byte_for_byte) {
  write(night(), path("again/deeper/night"));
  const auto difference = shell("diff -r " + path("night") + " " + path("again/deeper/night"));
  EXPECT_EQ(difference.status, 0) << difference.output;
}

TEST_F(Package, the_library_exports_its_own_names_only) {
  const auto exported = words(shell("nm -D --defined-only " + path("night/lib/libnight.so")).output, "[0-9a-f]+ [A-Z] (\\S+)");
  const std::set<std::string> wanted = {"night_abi_version", "night_axpb",   "night_axpb_plan",   "night_axpb_run", "night_blur",     "night_blur_plan", "night_blur_run",
                                        "night_dump_calls",  "night_last_error", "night_load",    "night_manifest", "night_matmul",   "night_matmul_plan",
                                        "night_matmul_run",  "night_supports", "night_threads",   "night_unload",   "night_verify_plan", "night_verify_run"};
  EXPECT_EQ(exported, wanted);
  EXPECT_EQ(words(shell("nm -g --defined-only " + path("night/lib/libnight.a")).output, "[0-9a-f]+ [A-Z] (\\S+)"), wanted);
}

TEST_F(Package, the_library_imports_neither_abort_nor_exit_nor_getenv_nor_output) {
  const auto imported = words(shell("nm -D -u " + path("night/lib/libnight.so")).output, "U ([A-Za-z0-9_]+)");
  EXPECT_TRUE(imported.contains("pthread_create"));
  for (const char* name : {"abort", "exit", "_exit", "quick_exit", "getenv", "secure_getenv", "printf", "puts", "stderr", "stdout", "__assert_fail", "dlopen"}) {
    EXPECT_FALSE(imported.contains(name)) << name;
  }
  for (const std::string& name : imported) EXPECT_FALSE(name.starts_with("halide")) << name;
}

TEST_F(Package, the_library_needs_the_c_library_alone) {
  const auto needed = words(shell("ldd " + path("night/lib/libnight.so")).output, "(lib[a-z]+)\\.so");
  for (const std::string& name : needed) EXPECT_TRUE((std::set<std::string>{"libc", "libm", "libpthread", "libdl"}.contains(name))) << name;
  EXPECT_NE(shell("readelf -d " + path("night/lib/libnight.so")).output.find("soname: [libnight.so.1]"), std::string::npos);
}

TEST_F(Package, no_file_names_the_folder_it_was_made_in) {
  const auto found = shell("grep -rl '" + folder_->path() + "' " + path("night"));
  EXPECT_EQ(found.output, "");
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST_F(Package, a_new_package_takes_the_place_of_the_old_one) {
  const fs::path target = path("replaced");
  write(night(), target);
  fs::create_directories(target / "python/__pycache__");  // what an application leaves
  std::ofstream(target / "python/__pycache__/night.cpython-311.pyc") << "cache";
  KernelSet newer = night();
  newer.version = "1.3.0";
  write(newer, target);
  EXPECT_NE(shell("cat " + target.string() + "/share/night/manifest.json").output.find("\"set_version\": \"1.3.0\""), std::string::npos);
  EXPECT_FALSE(fs::exists(target / "python/__pycache__"));
}

TEST_F(Package, a_folder_with_other_files_is_not_replaced) {
  const fs::path target = path("mine");
  fs::create_directories(target / "lib");
  std::ofstream(target / "lib/precious.txt") << "precious";
  EXPECT_EQ(message_of([&] { write(night(), target); }),
            target.string() + " holds lib/precious.txt, which is no file of package night; give -o a folder of its own");
  EXPECT_TRUE(fs::exists(target / "lib/precious.txt"));
}

TEST_F(Package, an_export_that_fails_leaves_the_old_package_and_no_rest) {
  fs::create_directories(path("kept"));
  const fs::path target = path("kept/night");
  write(night(), target);
  KernelSet broken = night();
  broken.entries[0].variants[0].object = "no object at all";
  const std::string message = message_of([&] { write(broken, target); });
  EXPECT_TRUE(message.starts_with("`objcopy --redefine-sym matmul_exact_argv=kernel_0 --keep-global-symbol=kernel_0 kernel_0.timed.o kernel_0.o` returned 1:\n")) << message;
  EXPECT_EQ(shell("diff -r " + target.string() + " " + path("night")).output, "");
  EXPECT_EQ(shell("ls -A " + path("kept")).output, "night\n");
}

TEST_F(Package, what_is_staged_and_not_published_vanishes) {
  fs::create_directories(path("unpublished"));
  { EXPECT_TRUE(fs::exists(stage(night(), path("unpublished/night")).library())); }
  EXPECT_EQ(shell("ls -A " + path("unpublished")).output, "");
}

TEST_F(Package, a_missing_tool_is_named_with_its_package) {
  const std::string before = std::getenv("PATH");
  setenv("PATH", path("nowhere").c_str(), 1);
  const std::string message = message_of([&] { write(night(), path("untooled")); });
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(message, "an export needs cc, which is not on the PATH: apt install gcc");
}

// silu(A·B) in double precision.
float wanted(const std::vector<float>& a, const std::vector<float>& b, int n, int k, int y, int x) {
  double sum = 0;
  for (int i = 0; i < k; ++i) sum += double{a[static_cast<std::size_t>(y * k + i)]} * b[static_cast<std::size_t>(i * n + x)];
  return static_cast<float>(sum / (1 + std::exp(-sum)));
}

TEST_F(Package, each_variant_can_be_called_by_its_place) {
  constexpr int kM = 64, kN = 64, kK = 32;
  struct alignas(64) Line { float values[16]; };
  std::vector<Line> a_lines(kM * kK / 16), b_lines(kK * kN / 16), c_lines(kM * kN / 16);
  std::vector<float> a(kM * kK), b(kK * kN);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a_lines[i / 16].values[i % 16] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5) / 8;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = b_lines[i / 16].values[i % 16] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6) / 8;
  const OpenedPackage package(path("night/lib/libnight.so.1"), "night", 2);
  for (int variant = 0; variant < 3; ++variant) {
    c_lines.assign(c_lines.size(), Line{});
    const CallOutcome outcome = package.call("matmul", variant, {{{a_lines.data(), kFloat32, {kK, kM}, {}}}, {{b_lines.data(), kFloat32, {kN, kK}, {}}}, {{c_lines.data(), kFloat32, {kN, kM}, {}}}});
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    for (int y = 0; y < kM; ++y) {
      for (int x = 0; x < kN; ++x) ASSERT_NEAR(c_lines[static_cast<std::size_t>((y * kN + x) / 16)].values[x % 16], wanted(a, b, kN, kK, y, x), 1e-4) << variant << ": " << y << ", " << x;
    }
  }
  const CallOutcome outcome = package.call("matmul", 3, {{}, {}, {}});
  EXPECT_EQ(outcome.text, "matmul: argument A has 0 dimensions, 2 are needed");
  EXPECT_EQ(outcome.code, -2);
}

TEST_F(Package, a_scalar_and_strides_reach_the_kernel) {
  const OpenedPackage package(path("night/lib/libnight.so.1"), "night", 1);
  std::vector<float> x = {1, 2, 3}, b = {10, 20, 30}, y(3);
  const float a = 2;
  const CallOutcome outcome = package.call("axpb", 0, {{{x.data(), kFloat32, {3}, {1}}}, {{}, &a}, {{b.data(), kFloat32, {3}, {}}}, {{y.data(), kFloat32, {3}, {}}}});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(y, (std::vector<float>{12, 24, 36}));
}

TEST_F(Package, the_manifest_inside_is_the_one_beside) {
  const OpenedPackage package(path("night/lib/libnight.so.1"), "night", 1);
  EXPECT_EQ(package.manifest(), shell("cat " + path("night/share/night/manifest.json")).output);
}

TEST_F(Package, what_is_no_such_set_is_not_opened) {
  EXPECT_EQ(message_of([&] { OpenedPackage(path("night/lib/libnight.so.1"), "day", 1); }), "the library has no day_abi_version");
  EXPECT_TRUE(message_of([&] { OpenedPackage(path("night/LICENSE"), "night", 1); }).starts_with("the package could not be opened: "));
}

}  // namespace
}  // namespace kiln::generators::package
