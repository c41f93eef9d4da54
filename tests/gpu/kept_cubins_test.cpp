// Needs neither a GPU nor NVRTC.
#include "kept_cubins.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "nvrtc.h"

namespace kiln::gpu {
namespace {

namespace fs = std::filesystem;
using generators::cuda::compile::Source;

class CubinsKept : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    ::setenv("KILN_CUBINS", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("KILN_CUBINS");
    fs::remove_all(folder_);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("kiln_kept_cubins_" + std::to_string(::getpid()));
};

const Source kSource{.text = "extern \"C\" __global__ void nothing() {}", .kernels = {"nothing"}};

TEST_F(CubinsKept, are_found_by_everything_that_makes_them) {
  const KeptCubins kept(folder_);
  EXPECT_EQ(kept.find(kSource), std::nullopt);
  const std::string cubin("\x7F" "ELF\0\n", 6);
  kept.keep(kSource, cubin);
  EXPECT_EQ(KeptCubins(folder_).find(kSource), cubin);

  Source other = kSource;
  other.text += "\n";
  EXPECT_EQ(kept.find(other), std::nullopt);
  other = kSource;
  other.arch = "sm_80";
  EXPECT_EQ(kept.find(other), std::nullopt);
  other = kSource;
  other.contracts_to_fma = false;
  EXPECT_EQ(kept.find(other), std::nullopt);
  other = kSource;
  other.kernels = {"other"};
  EXPECT_EQ(kept.find(other), std::nullopt);
}

TEST_F(CubinsKept, leave_nothing_beside_them_and_can_be_kept_again) {
  const KeptCubins kept(folder_);
  kept.keep(kSource, "first");
  kept.keep(kSource, "second");
  EXPECT_EQ(kept.find(kSource), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(CubinsKept, serve_the_tests_instead_of_a_compiler) {
  kept_cubins()->keep(kSource, "made in an earlier run");
  EXPECT_EQ(cubin_of(kSource.text, "nothing"), "made in an earlier run");
}

TEST_F(CubinsKept, are_for_who_names_a_folder) {
  EXPECT_TRUE(kept_cubins());
  ::setenv("KILN_CUBINS", "", 1);
  EXPECT_FALSE(kept_cubins());
  ::unsetenv("KILN_CUBINS");
  EXPECT_FALSE(kept_cubins());
}

}  // namespace
}  // namespace kiln::gpu
