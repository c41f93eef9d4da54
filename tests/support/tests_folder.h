// Where the tests' own files are.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace kiln::tests {

// $KILN_TESTS_DIR, for a program that was carried to another machine; else the sources that it was built from.
inline std::filesystem::path tests_folder() {
  const char* elsewhere = std::getenv("KILN_TESTS_DIR");
  return elsewhere == nullptr ? KILN_TESTS_DIR : elsewhere;
}

// Throws std::runtime_error that names the file when there is none.
inline std::string text_of_test_file(const std::string& name) {
  const std::filesystem::path path = tests_folder() / name;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + " cannot be read; $KILN_TESTS_DIR says where the tests' files are");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace kiln::tests
