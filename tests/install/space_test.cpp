// A project outside the tree, against an installed Kiln: a generator with a space of its own, built by kiln_add_generators and tuned.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/db/temporary_folder.h"
#include "tests/generators/package/shell.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using tests::shell;

constexpr const char* kConfigure = KILN_CMAKE " -G Ninja -DCMAKE_MAKE_PROGRAM=" KILN_NINJA;

class OutsideSpace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new db::TemporaryFolder;
    expect_success(KILN_CMAKE " --install " KILN_BINARY_DIR " --prefix " + folder_->file("kiln"));
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string expect_success(const std::string& command) {
    const auto outcome = shell(command);
    EXPECT_EQ(outcome.status, 0) << command << "\n" << outcome.output;
    return outcome.output;
  }
  static std::string kiln(const std::string& arguments) { return folder_->file("kiln/bin/kiln") + " " + arguments; }
  static std::string configure(const std::string& source, const std::string& build) {
    return std::string(kConfigure) + " -S " + source + " -B " + folder_->file(build) + " -DCMAKE_PREFIX_PATH=" + folder_->file("kiln");
  }

  static db::TemporaryFolder* folder_;
};
db::TemporaryFolder* OutsideSpace::folder_ = nullptr;

TEST_F(OutsideSpace, is_built_loaded_and_searched) {
  expect_success(configure(std::string(KILN_TESTS_DIR) + "/install/outside_space", "build") + " && " KILN_CMAKE " --build " + folder_->file("build"));
  const std::string db = " --db " + folder_->file("night.db"), load = " --load " + folder_->file("build/liboutside.so");
  expect_success(kiln("tune smooth --for 10s --threads 1 --quiet" + load + db));
  const std::string best = expect_success(kiln("best --json" + db));
  EXPECT_NE(best.find("\"operator\": \"smooth\""), std::string::npos) << best;
  const std::string spaces = expect_success(
      "python3 -c \"import sqlite3; c = sqlite3.connect('" + folder_->file("night.db") +
      "'); print(sorted(c.execute('SELECT DISTINCT space FROM schedule JOIN trial USING (schedule_id) WHERE space IS NOT NULL')))\"");
  EXPECT_EQ(spaces, "[('smooth_strips',)]\n");
}

TEST_F(OutsideSpace, the_installed_headers_compile_alone) {
  for (const auto& file : fs::recursive_directory_iterator(folder_->file("kiln/include/kiln"))) {
    if (file.path().extension() != ".h") continue;
    expect_success("echo '#include \"" + file.path().string() + "\"' | c++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -x c++ -I " +
                   folder_->file("kiln/include/kiln") + " -");
  }
}

TEST_F(OutsideSpace, a_wrong_call_says_what_is_wanted) {
  fs::create_directory(folder_->file("wrong"));
  std::ofstream(folder_->file("wrong/CMakeLists.txt")) << "cmake_minimum_required(VERSION 3.28)\nproject(wrong LANGUAGES CXX)\n"
                                                          "find_package(Kiln REQUIRED)\nkiln_add_generators(mine blur.cpp)\n";
  const auto outcome = shell(configure(folder_->file("wrong"), "wrong_build"));
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("kiln_add_generators(mine …) wants SOURCES files [SPACES files]; it was\n  given 'blur.cpp'"), std::string::npos)
      << outcome.output;
}

}  // namespace
}  // namespace kiln
