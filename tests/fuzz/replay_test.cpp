// The corpora again, and what a few thousand random changes make of them: the fuzzers' own run takes clang and minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/error.h"
#include "tests/fuzz/texts.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

constexpr int kChanged = 3000;

std::vector<std::string> corpus(const std::string& name) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(KILN_TESTS_DIR) / "fuzz" / "corpus" / name)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

// Bytes lost, doubled, swapped for others, or followed by the end of another text.
std::string changed(std::string text, const std::vector<std::string>& others, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % std::max<std::size_t>(1, n)); };
  static const std::string kBytes = "().,#\"=_0123456789abcxyz\n\t -\x80\xff";
  for (std::size_t i = below(4) + 1; i > 0 && !text.empty(); --i) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0: text.erase(at, 1 + below(8)); break;
      case 1: text.insert(at, text.substr(below(text.size()), below(20))); break;
      case 2: text[at] = kBytes[below(kBytes.size())]; break;
      case 3: text.insert(at, 1, kBytes[below(kBytes.size())]); break;
      default: {
        const std::string& other = others[below(others.size())];
        text = text.substr(0, at) + other.substr(below(other.size()));
      }
    }
  }
  return text;
}

template <typename Try>
void replay(const std::string& name, const Try& attempt) {
  const std::vector<std::string> texts = corpus(name);
  ASSERT_GE(texts.size(), 5u);
  for (const std::string& text : texts) attempt(text);
  std::mt19937_64 random(test_seed(20261130));
  for (int i = 0; i < kChanged; ++i) attempt(changed(texts[random() % texts.size()], texts, random));
}

TEST(Fuzz, schedule_texts_are_read_or_refused) { replay("schedule", [](const std::string& text) { try_schedule_text(text); }); }

TEST(Fuzz, problem_texts_are_read_or_refused) { replay("problem", [](const std::string& text) { try_problem_text(text); }); }

}  // namespace
}  // namespace kiln::tests
