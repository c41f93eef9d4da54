// Faults planted in text that the emitters print, and what the emulator or the comparison with the reference makes of them.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kiln::tests {

struct PlantedKernel {
  const char *problem, *schedule;
};

struct Planted {
  const char* what;
  PlantedKernel kernel;
  const char *from, *to;        // `from` stands once in the text
  std::set<std::string> words;  // the emulator's, "wrong numbers", or "unwritten output"
  // More edits of the same fault.
  std::vector<std::pair<const char*, const char*>> also = {};
};
void PrintTo(const Planted& planted, std::ostream* out);
std::string test_name(const testing::TestParamInfo<Planted>& param);

// Runs the planted text in each of the four ways in which the emulator mixes what happens at once: some must report it, all that do by one of the words.
void expect_named(const Planted& planted);

}  // namespace kiln::tests
