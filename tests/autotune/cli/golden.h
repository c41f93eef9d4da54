// Texts compared with files under tests/golden. UPDATE_GOLDEN=1 writes them; a missing one fails.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace kiln {

inline void expect_golden(const std::string& text, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(KILN_TESTS_DIR) / "golden" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; run this test with UPDATE_GOLDEN=1 and read what it wrote";
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), text) << "against " << path;
}

}  // namespace kiln
