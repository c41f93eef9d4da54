#include "generators/cuda/emulator/machine/clock.h"

#include <gtest/gtest.h>

namespace kiln::generators::cuda::emulator {
namespace {

TEST(Clock, knows_nothing_at_first) {
  const Clock clock;
  EXPECT_EQ(clock.of(7), 0u);
  EXPECT_TRUE(clock.knows(7, 0));
  EXPECT_FALSE(clock.knows(7, 1));
}

TEST(Clock, a_join_knows_what_either_knows) {
  Joins joins;
  const Clock a(Epochs{1, 5}), b(Epochs{3, 2, 4}), both = joins.join(a, b);
  EXPECT_EQ(both.epochs(), (Epochs{3, 5, 4}));
  EXPECT_EQ(joins.join(a, Clock()), a);
  EXPECT_EQ(joins.join(Clock(), b), b);
}

TEST(Clock, a_join_that_adds_nothing_is_the_same_snapshot) {
  Joins joins;
  const Clock a(Epochs{3, 5}), b(Epochs{1, 5});
  EXPECT_EQ(joins.join(a, b), a);
}

TEST(Clock, the_same_join_is_done_once) {
  Joins joins;
  const Clock a(Epochs{1, 0}), b(Epochs{0, 1});
  EXPECT_EQ(joins.join(a, b), joins.join(a, b));
  EXPECT_EQ(joins.with(a, 1, 9), joins.with(a, 1, 9));
  EXPECT_EQ(joins.with(a, 1, 9).epochs(), (Epochs{1, 9}));
  EXPECT_EQ(joins.with(a, 0, 1), a);
}

TEST(Clock, what_is_gathered_is_the_union_of_those_who_came) {
  Gathered gathered;
  gathered.add(Clock(Epochs{0, 2}), 0, 7);
  gathered.add(Clock(Epochs{0, 1, 4}), 3, 1);
  gathered.add(2, 6);
  EXPECT_EQ(gathered.clock().epochs(), (Epochs{7, 2, 6, 1}));
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
