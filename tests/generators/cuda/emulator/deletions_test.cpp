// Nothing here is chosen by hand: every statement of a kernel that synchronises is deleted, one at a time, and each deletion is noticed.
#include <gtest/gtest.h>

#include <regex>

#include "subjects.h"

namespace kiln::generators::cuda::emulator {
namespace {

constexpr const char* kSynchronising =
    R"((mbar_(init|wait|expect_tx|arrive|arrive_remote)|fence_\w+|bar_(sync|arrive)|cluster_(sync|arrive|wait)|__sync\w+|__threadfence|bulk_(commit|wait_all|wait_read<[^>]*>)|)"
    R"(cp_async_(commit|wait<0>)|wgmma_(fence|commit|wait<\d>)|regs_\w+<\d+>|pdl_wait|st_release|release)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\);)";

// Statements whose deletion no run here can notice, with the reason.
struct Unnoticed {
  const char *kernel, *statement, *why;
};
const std::vector<Unnoticed> kUnnoticed = {
    {"ring", "regs_grow<216>();", "registers are ptxas's: here a thread has as many as it likes"},
};

bool is_excused(const Subject& subject, const std::string& statement) {
  return std::any_of(kUnnoticed.begin(), kUnnoticed.end(), [&](const Unnoticed& u) { return subject.kernel == u.kernel && statement == u.statement; });
}

bool is_noticed(const Subject& subject, const std::string& text) {
  const Compiled kernel(text, subject.kernel);
  for (unsigned seed = 1; seed <= 8; ++seed)
    if (outcome(subject, kernel, seed).word != "right") return true;
  return false;
}

int expect_all_noticed(const Subject& subject) {
  const std::string text = text_of(subject);
  const std::regex statement(kSynchronising);
  int count = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), statement), end; match != end; ++match) {
    std::string without = text;
    without.replace(static_cast<std::size_t>(match->position()), static_cast<std::size_t>(match->length()), ";");
    const auto line = 1 + std::count(text.begin(), text.begin() + match->position(), '\n');
    ++count;
    EXPECT_TRUE(is_excused(subject, match->str()) || is_noticed(subject, without)) << subject.kernel << ".cu, line " << line << ": " << match->str();
  }
  return count;
}

TEST(Deletions, in_the_ring) { EXPECT_GE(expect_all_noticed(ring()), 20); }
TEST(Deletions, in_the_multicast) { EXPECT_GE(expect_all_noticed(multicast()), 11); }
TEST(Deletions, in_the_split_reduction) { EXPECT_GE(expect_all_noticed(split()), 4); }
TEST(Deletions, in_the_turns) { EXPECT_GE(expect_all_noticed(turns()), 3); }
TEST(Deletions, in_the_moves) { EXPECT_GE(expect_all_noticed(moves()), 5); }
TEST(Deletions, in_the_bulk_copies) { EXPECT_GE(expect_all_noticed(map_ring()), 10); }
TEST(Deletions, in_the_rows) { EXPECT_GE(expect_all_noticed(row_softmax()), 4); }
TEST(Deletions, in_the_rest) {
  expect_all_noticed(dependent());
  expect_all_noticed(turnstile());
  expect_all_noticed(layouts(128, false, true));
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
