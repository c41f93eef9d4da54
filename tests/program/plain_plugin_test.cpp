// A generator that knows nothing of Kiln, from its shared library to a C program that calls the tuned kernel; and from the store alone, when plugin and
// cache are gone.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/generators/package/shell.h"
#include "tests/program/stored.h"
#include "tests/support/run_kiln.h"

namespace kiln::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kProblem =
    "exposure(input.0=160, input.1=96, input.2=3, bright.0=160, bright.1=96, bright.2=3, histogram.0=64)";

// Relative path -> bytes, or where a link leads.
std::map<std::string, std::string> tree(const std::string& root) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = fs::relative(entry.path(), root).string();
    if (entry.is_symlink()) files[name] = "-> " + fs::read_symlink(entry.path()).string();
    else if (entry.is_regular_file()) files[name] = text_of(entry.path().string());
  }
  return files;
}

class PlainPlugin : public ::testing::Test {
 protected:
  // Tuned once: what the tests look at does not change it.
  static void SetUpTestSuite() {
    folder_ = new db::TemporaryFolder;
    fs::copy_file(KILN_BINARY_DIR "/tests/plugins/libplain_generator.so", folder_->file("libplain_generator.so"));
    const Said said = run_kiln(*folder_, {"tune", "exposure", "--load", "./libplain_generator.so", "--problem", kProblem, "--wait", "--for", "12s"});
    ASSERT_EQ(said.code, 0) << said.err;
    const Said exported = export_to("first");
    ASSERT_EQ(exported.code, 0) << exported.err;
  }
  static void TearDownTestSuite() { delete folder_; }

  static Said export_to(const std::string& where) { return run_kiln(*folder_, {"export", "--set", "night", "-o", where}); }

  static void expect_same_tree(const std::string& a, const std::string& b) {
    const auto ours = tree(folder_->file(a)), theirs = tree(folder_->file(b));
    EXPECT_FALSE(ours.empty());
    for (const auto& [name, bytes] : ours) EXPECT_TRUE(theirs.contains(name) && theirs.at(name) == bytes) << name << " differs";
    EXPECT_EQ(ours.size(), theirs.size());
  }

  static db::TemporaryFolder* folder_;
};
db::TemporaryFolder* PlainPlugin::folder_ = nullptr;

TEST_F(PlainPlugin, is_tuned_with_its_own_schedule_as_baseline) {
  const Json best = Json::parse(run_kiln(*folder_, {"best", "--json"}).out);
  ASSERT_EQ(best.size(), 1U);
  EXPECT_EQ(best[0]["baseline"], "own schedule");
  EXPECT_GT(best[0]["tried"], 2);
  EXPECT_EQ(best[0]["problem"], kProblem);
  EXPECT_EQ(count(folder_->file("kiln.db"), "SELECT count(*) FROM v_choice_in_force"), 1);
}

TEST_F(PlainPlugin, its_exported_kernel_gives_right_results_to_a_c_program) {
  const std::string prefix = folder_->file("first"), program = folder_->file("exposure");
  const auto built = shell("cc -std=c11 -Wall -Wextra -Werror -I" + prefix + "/include " KILN_TESTS_DIR "/program/exposure.c " + prefix +
                           "/lib/libnight.a -lm -lpthread -ldl -o " + program);
  ASSERT_EQ(built.status, 0) << built.output;
  const auto called = shell(program);
  EXPECT_EQ(called.status, 0);
  EXPECT_EQ(called.output, "160 x 96: tier 1, right\n37 x 21: tier 3, right\n");
}

TEST_F(PlainPlugin, two_exports_are_equal_byte_for_byte) {
  const Said said = export_to("second");
  ASSERT_EQ(said.code, 0) << said.err;
  expect_same_tree("first", "second");
}

TEST_F(PlainPlugin, the_store_alone_gives_the_same_bytes) {
  fs::rename(folder_->file("libplain_generator.so"), folder_->file("gone"));
  fs::remove_all(folder_->file("kiln.db.cache"));
  const Said said = export_to("third");
  ASSERT_EQ(said.code, 0) << said.err;
  expect_same_tree("first", "third");
}

}  // namespace
}  // namespace kiln::tests
