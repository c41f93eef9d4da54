// NVRTC where it is not, and the files that it would be given. Needs no NVRTC.
#include "generators/cuda/compile/nvrtc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kiln::generators::cuda::compile {
namespace {

namespace fs = std::filesystem;

const std::string kCure =
    "\n`.ci/setup.sh` installs it into .venv, from the wheel nvidia-cuda-nvrtc; a CUDA Toolkit 13 has it too, in a folder that LD_LIBRARY_PATH can name";

std::string absence(const std::vector<std::string>& places) {
  try {
    const Nvrtc nvrtc(places);
  } catch (const NvrtcMissing& missing) {
    return missing.what();
  }
  return "it is there";
}

TEST(Nvrtc, that_is_missing_says_where_it_was_looked_for_and_how_to_get_it) {
  EXPECT_EQ(absence({"libnvrtc-none.so.13", "/nowhere/libnvrtc.so.13"}),
            "NVRTC, which compiles kernels for GPUs, is not here; looked for\n"
            "  libnvrtc-none.so.13: cannot open shared object file: No such file or directory\n"
            "  /nowhere/libnvrtc.so.13: cannot open shared object file: No such file or directory" +
                kCure);
}

TEST(Nvrtc, is_not_any_library) { EXPECT_EQ(absence({"/nowhere/libnvrtc.so.13", "libm.so.6"}), "libm.so.6 is no NVRTC that can be used: it has no nvrtcGetErrorString" + kCure); }

TEST(Nvrtc, is_an_error_of_the_machine) { EXPECT_THROW(Nvrtc({"/nowhere/libnvrtc.so.13"}), EnvironmentError); }

TEST(Nvrtc, is_looked_for_along_the_loaders_path_and_then_in_the_wheel) {
  const std::vector<std::string> places = nvrtc_places();
  ASSERT_GE(places.size(), 2u);
  EXPECT_EQ(places[0], "libnvrtc.so.13");
  for (std::size_t i = 1; i < places.size(); ++i) {
    EXPECT_TRUE(places[i].starts_with((fs::path(KILN_TESTS_DIR).parent_path() / ".venv/lib/python3").string())) << places[i];
    EXPECT_TRUE(places[i].ends_with("/site-packages/nvidia/cu13/lib/libnvrtc.so.13")) << places[i];
  }
}

TEST(Prelude, is_the_folder_of_device_code) {
  std::vector<std::pair<std::string, std::string>> embedded, found;
  for (const PreludeFile& file : prelude_files()) embedded.emplace_back(file.name, file.text);
  for (const auto& entry : fs::directory_iterator(fs::path(KILN_TESTS_DIR).parent_path() / "generators/cuda/device")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    found.emplace_back(entry.path().filename().string(), text.str());
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(embedded, found);
}

}  // namespace
}  // namespace kiln::generators::cuda::compile
