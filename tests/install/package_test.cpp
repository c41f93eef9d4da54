// An exported package in its users' hands: built against by a project outside the tree, called from C, C++ and Python, moved, and linked beside
// another. The applications are in application/; what they print is compared whole.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "generators/package/write.h"
#include "tests/db/temporary_folder.h"
#include "tests/generators/package/kernels.h"
#include "tests/generators/package/shell.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using tests::shell;

// The generator is named: a machine with Ninja need not have Make.
constexpr const char* kConfigure = KILN_CMAKE " -G Ninja -DCMAKE_MAKE_PROGRAM=" KILN_NINJA;

class Installed : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new db::TemporaryFolder;
    generators::package::KernelSet set = tests::small_kernel_set("night");
    generators::package::write(set, folder_->file("made/night"));
    set.name = "second";
    generators::package::write(set, folder_->file("made/second"));
    fs::rename(folder_->file("made"), folder_->file("moved"));  // nothing may depend on where a package was made
    const std::string source = std::string(KILN_TESTS_DIR) + "/install/application", build = folder_->file("build");
    const auto built = shell(std::string(kConfigure) + " -S " + source + " -B " + build + " -DCMAKE_PREFIX_PATH='" + folder_->file("moved/night") + ";" +
                             folder_->file("moved/second") + "' -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS='-Wall -Wextra -Wpedantic -Werror' " +
                             "-DCMAKE_CXX_FLAGS='-Wall -Wextra -Wpedantic -Werror' && " + KILN_CMAKE + " --build " + build);
    ASSERT_EQ(built.status, 0) << built.output;
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string run(const std::string& command) {
    const auto outcome = shell(command);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return outcome.output;
  }
  static std::string built(const std::string& program) { return folder_->file("build/" + program); }

  static db::TemporaryFolder* folder_;
};
db::TemporaryFolder* Installed::folder_ = nullptr;

TEST_F(Installed, wrong_calls_have_their_codes_and_sentences) {
  EXPECT_EQ(run(built("codes")), R"(-20 matmul: the set is not loaded
-17 night: the options have 4096 bytes, this library (ABI 1) knows 56
0 
-1 matmul: argument A is NULL
-2 matmul: argument B has 3 dimensions, 2 are needed
-3 matmul: argument B has type f64, f32 is needed
-4 matmul: argument B is on cuda:0, cpu is needed
-6 matmul: k is 5 in dimension 1 of A and 6 in dimension 0 of B
-7 matmul: dimension 1 of A has stride 2, 1 is needed
-7 matmul: dimension 0 of output C has stride 39, at least 40 is needed to keep its elements apart
-8 matmul: the address of A is 2 bytes past a multiple of 4
-9 matmul: byte_offset of A is 6, a multiple of its element size 4 is needed
-10 matmul: output C overlaps argument B
-11 matmul: dimension 0 of A has extent 7 and stride 8589934592, at most 2147483647 are possible
-6 blur: dimension 1 of input has 7 elements, 8 are needed
-8 matmul: the address of A is 4 bytes past a multiple of 32
-12 night: there is no entry nothing
-23 night: call counts could not be written to /nonexistent/calls: No such file or directory
0 
0 
-12 matmul: only the generic variant is built, and fallback is an error, for m=3, n=7, k=5
0 
-20 night: the set is not loaded
)");
}

TEST_F(Installed, right_calls_are_served_by_the_right_tier_and_counted) {
  const std::string calls = folder_->file("calls.demand");
  EXPECT_EQ(run(built("calls") + " " + calls), R"(threads 3
exact 1
exact extents, misaligned 2
exact extents, padded rows 1
bucket 2
bucket's ends 3 2 3
below a tile 3
unseen extent 3
one element 3
a sum of no terms 3
no rows 3
eight threads at once, failures 0
in place 0: 11 55
two outputs 0: 48 63, supports 3
own parallel loop 1, used 1
)");
  const std::string dump = std::regex_replace(shell("cat " + calls).output, std::regex("window \\S+Z \\S+Z"), "window START END");
  EXPECT_EQ(dump, R"(# application night
# window START END
# tier exact
162 matmul(m=64, n=64, k=32, epilogue=silu)
# tier bucket
1 matmul(m=17, n=47, k=13, epilogue=silu)
1 matmul(m=64, n=64, k=32, epilogue=silu)
1 matmul(m=128, n=256, k=9, epilogue=silu)
# tier generic
161 matmul(m=131, n=7, k=5, epilogue=silu)
1 matmul(m=0, n=6, k=3, epilogue=silu)
1 matmul(m=1, n=1, k=1, epilogue=silu)
1 matmul(m=1, n=32, k=1, epilogue=silu)
1 matmul(m=2, n=31, k=3, epilogue=silu)
1 matmul(m=5, n=6, k=0, epilogue=silu)
1 matmul(m=129, n=256, k=9, epilogue=silu)
1 axpb(n=5, f32)
1 blur(w=4, h=3)
)");
}

TEST_F(Installed, a_run_makes_no_system_call) {
  constexpr int kSkipped = 77;
  const auto outcome = shell(built("quiet"));
  if (outcome.status == kSkipped) GTEST_SKIP() << "this machine does not allow seccomp";
  EXPECT_EQ(outcome.status, 0) << "a signal means that a system call was made";
}

TEST_F(Installed, pkg_config_finds_the_package_where_it_lies) {
  if (shell("command -v pkg-config").status != 0) GTEST_SKIP() << "pkg-config is not installed";
  const std::string prefix = folder_->file("moved/night"), program = folder_->file("by_pkg_config");
  const std::string flags = "$(PKG_CONFIG_PATH=" + prefix + "/lib/pkgconfig pkg-config --cflags --libs night)";
  const auto outcome = shell("cc " + std::string(KILN_TESTS_DIR) + "/install/application/codes.c " + flags + " -o " + program + " && LD_LIBRARY_PATH=" + prefix +
                             "/lib " + program + " | head -1");
  EXPECT_EQ(outcome.output, "-20 matmul: the set is not loaded\n");
}

TEST_F(Installed, two_sets_in_one_program_share_nothing) {
  EXPECT_EQ(run(built("two_sets")), "-20\naxpb: the set is not loaded|\n2 4\n");
}

TEST_F(Installed, cpp_callers_get_views_and_exceptions) {
  EXPECT_EQ(run(built("from_cpp")), R"(12 36
26 tier 3
-6 axpb: n is 3 in dimension 0 of x and 2 in dimension 0 of b
-3 axpb: argument x has type f64, f32 is needed
)");
}

TEST_F(Installed, python_callers_need_nothing_else) {
  const std::string script = std::string(KILN_TESTS_DIR) + "/install/application/from_python.py";
  EXPECT_EQ(run("python3 -B " + script + " " + folder_->file("moved/night/python")), R"([12.0, 24.0, 36.0]
generic 0 [13.0, 26.0, 39.0]
True True
-3 axpb: argument x has type f64, f32 is needed
-6 axpb: n is 3 in dimension 0 of x and 2 in dimension 0 of y
read-only
night: 3 arguments given, 4 are needed: x, a, b, y
True
generic night
)");
}

TEST_F(Installed, another_major_version_is_not_found) {
  const std::string project = folder_->file("newer");
  fs::create_directories(project);
  std::ofstream(project + "/CMakeLists.txt") << "cmake_minimum_required(VERSION 3.16)\nproject(newer C)\nfind_package(night 2 CONFIG REQUIRED)\n";
  const auto outcome = shell(std::string(kConfigure) + " -S " + project + " -B " + project + "/build -DCMAKE_PREFIX_PATH=" + folder_->file("moved/night"));
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("nightConfig.cmake, version: 1.2.0"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace kiln
