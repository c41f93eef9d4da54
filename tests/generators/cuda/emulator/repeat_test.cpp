// One launch is a function of kernel, inputs and seed.
#include <gtest/gtest.h>

#include "numbers.h"
#include "subjects.h"

namespace kiln::generators::cuda::emulator {
namespace {

TEST(Repeat, the_same_seed_gives_the_same_run) {
  const Subject subject = map_ring();
  const Compiled kernel(text_of(subject), subject.kernel), again(text_of(subject), subject.kernel);
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Report first = outcome(subject, kernel, seed).report, second = outcome(subject, again, seed).report;
    EXPECT_EQ(first.switches, second.switches) << seed;
    EXPECT_EQ(first.async_operations, second.async_operations) << seed;
  }
}

TEST(Repeat, other_seeds_give_other_runs) {
  const Subject subject = map_ring();
  const Compiled kernel(text_of(subject), subject.kernel);
  EXPECT_NE(outcome(subject, kernel, 1).report.switches, outcome(subject, kernel, 5).report.switches);
}

TEST(Repeat, a_fault_is_found_again_word_for_word) {
  const Subject subject = map_ring();
  const Compiled kernel(replaced(text_of(subject), "    mbar_wait(full(stage), parity);\n", ""), subject.kernel);
  const Outcome first = outcome(subject, kernel, 2), second = outcome(subject, kernel, 2);
  EXPECT_NE(first.word, "right");
  EXPECT_EQ(first.text, second.text);
}

TEST(Repeat, a_launch_sees_what_an_earlier_one_left_and_reset_forgets_it) {
  const Compiled kernel(text_of(turnstile()), "turnstile");
  Memory memory;
  unsigned* turn = output<unsigned>(memory, "turn", 1, Memory::Use::zeroed);
  float* total = output<float>(memory, "total", 1, Memory::Use::zeroed);
  void* arguments[] = {&turn, &total};
  EXPECT_EQ(run({.grid = 2, .threads = 32}, memory, kernel.entry(), arguments).text, "");
  EXPECT_EQ(*turn, 2u);
  EXPECT_EQ(run({.grid = 2, .threads = 32}, memory, kernel.entry(), arguments).kind, "livelock");  // nobody resets the turn
  memory.reset();
  EXPECT_EQ(*turn, 0u);
  EXPECT_EQ(run({.grid = 2, .threads = 32}, memory, kernel.entry(), arguments).text, "");
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
