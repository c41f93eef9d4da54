// Projects outside the tree, against an installed Kiln: a generator with a space of its own, built by kiln_add_generators and tuned; and the same
// generator in a Halide build that takes its schedule from the store.
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

class Outside : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new db::TemporaryFolder;
    expect_success(KILN_CMAKE " --install " KILN_BINARY_DIR " --prefix " + folder_->file("kiln"));
    expect_success(build("outside_space", "space", ""));
    expect_success(kiln("tune smooth --for 20s --threads 1 --wait --quiet --load " + folder_->file("space/liboutside.so") + " --db " + folder_->file("night.db")));
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

  static std::string build(const std::string& project, const std::string& folder, const std::string& definitions) {
    return configure(std::string(KILN_TESTS_DIR) + "/install/" + project, folder) + " " + definitions + " && " KILN_CMAKE " --build " + folder_->file(folder);
  }

  static db::TemporaryFolder* folder_;
};
db::TemporaryFolder* Outside::folder_ = nullptr;

TEST_F(Outside, a_space_is_built_loaded_and_searched) {
  const std::string best = expect_success(kiln("best --json --db " + folder_->file("night.db")));
  EXPECT_NE(best.find("\"operator\": \"smooth\""), std::string::npos) << best;
  const std::string spaces = expect_success(
      "python3 -c \"import sqlite3; c = sqlite3.connect('" + folder_->file("night.db") +
      "'); print(sorted(c.execute('SELECT DISTINCT space FROM schedule JOIN trial USING (schedule_id) WHERE space IS NOT NULL')))\"");
  EXPECT_EQ(spaces, "[('smooth_strips',)]\n");
}

TEST_F(Outside, a_halide_build_takes_its_schedule_from_the_store) {
  expect_success(build("outside_halide", "halide", "-DSTORE=" + folder_->file("night.db")));
  EXPECT_EQ(expect_success(folder_->file("halide/application")), "right\n");
  const std::string schedule = expect_success("cat " + folder_->file("halide/smooth.schedule.h"));
  EXPECT_NE(schedule.find("    // Chosen by Kiln for smooth(input.0=512, input.1=256, output.0=512, output.1=256)\n"), std::string::npos) << schedule;
  expect_success("echo '#include \"" + folder_->file("halide/smooth.schedule.h") + "\"' | c++ -std=c++17 -fsyntax-only -x c++ -I " KILN_HALIDE_FOLDER
                 "/../include -");
}

TEST_F(Outside, a_halide_build_that_cannot_be_served_says_why) {
  const auto refused = [&](const std::string& definitions) { return shell(build("outside_halide", "refused", definitions)).output; };
  EXPECT_NE(refused("-DSTORE=/nowhere.db").find("Error: autoscheduler Kiln: "), std::string::npos);
  const std::string unknown = refused("-DSTORE=" + folder_->file("night.db") + " -DMORE=autoscheduler.beam_size=2");
  EXPECT_NE(unknown.find("Error: autoscheduler Kiln: autoscheduler Kiln knows no 'beam_size'; it takes autoscheduler.db, autoscheduler.missing and "
                         "autoscheduler.device"),
            std::string::npos)
      << unknown;
}

TEST_F(Outside, the_installed_headers_compile_alone) {
  for (const auto& file : fs::recursive_directory_iterator(folder_->file("kiln/include/kiln"))) {
    if (file.path().extension() != ".h") continue;
    expect_success("echo '#include \"" + file.path().string() + "\"' | c++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -x c++ -I " +
                   folder_->file("kiln/include/kiln") + " -isystem " KILN_HALIDE_FOLDER "/../include -");
  }
}

TEST_F(Outside, a_wrong_call_says_what_is_wanted) {
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
