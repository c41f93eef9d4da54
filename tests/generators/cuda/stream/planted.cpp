#include "tests/generators/cuda/stream/planted.h"

#include <algorithm>
#include <cctype>

#include "dsl/schedule.h"
#include "generators/cuda/emulated/emulated.h"
#include "tests/generators/cuda/stream/emulated_subject.h"
#include "tests/generators/cuda/stream/oracle.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;

constexpr std::uint64_t kInputs = 20261130;
constexpr unsigned kOrders = 4;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "not in the text: " << from << "\n" << text;
  if (at == std::string::npos) return text;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << "more than once in the text: " << from << "\n" << text;
  return text.replace(at, from.size(), to);
}

// "race" of "rmsnorm_y: race: thread 3 …".
std::string word_of(const std::string& difference) {
  if (difference.empty()) return "right";
  if (difference.starts_with("output ")) return "wrong numbers";
  if (difference.find(" is not written from byte ") != std::string::npos) return "unwritten output";
  const std::size_t begin = difference.find(": ") + 2;
  return difference.substr(begin, difference.find(": ", begin) - begin);
}

}  // namespace

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.what; }

std::string test_name(const testing::TestParamInfo<Planted>& param) {
  std::string name = param.param.what;
  std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

void expect_named(const Planted& planted) {
  const Oracle& known = oracle(planted.kernel.problem);
  const EmulatedSubject subject(known.algorithm, planted.kernel.problem, known.reference, kInputs);
  const cuda::Program program = cuda::lower(known.algorithm, parse_schedule(planted.kernel.schedule), subject.problem());
  std::string text = replaced(program.text(), planted.from, planted.to);
  for (const auto& [from, to] : planted.also) text = replaced(text, from, to);
  if (testing::Test::HasFailure()) return;
  const cuda::Emulated emulated(text, launch_record(program));
  int caught = 0;
  for (unsigned order = 0; order < kOrders; ++order) {
    const std::string difference = subject.difference(emulated, order), word = word_of(difference);
    if (word == "right") continue;
    ++caught;
    EXPECT_TRUE(planted.words.contains(word)) << "order " << order << ": " << word << "\n" << difference;
  }
  EXPECT_GT(caught, 0) << "nothing is reported";
}

}  // namespace kiln::tests
