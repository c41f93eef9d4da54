#include "autotune/search/edit_search.h"

#include <gtest/gtest.h>

#include <set>

#include "schedules/devices.h"
#include "tests/support/small_algorithms.h"

namespace kiln::autotune {
namespace {

const Schedule& start() {
  static const Schedule kStart = parse_schedule("y.split(n, no, ni, 32, GuardWithIf).vectorize(ni, 8)\nc.compute_at(y, no).vectorize(n, 8)\n");
  return kStart;
}

class EditSearchTest : public testing::Test {
 protected:
  std::shared_ptr<const Algorithm> algorithm = std::make_shared<const Algorithm>(tests::product());
  Problem problem = resolve(parse_problem_text("product(m=70, n=96, k=40)"), *algorithm);
  Legality legality{*algorithm, &problem};

  EditSearch search(std::uint64_t seed = 1) const { return {algorithm, problem, schedules::device_named("x86-64-v3"), seed}; }
};

const auto kNothing = [](const Digest&) { return false; };

TEST_F(EditSearchTest, proposes_nothing_before_it_has_learned_of_a_schedule) {
  EditSearch empty = search();
  EXPECT_EQ(empty.propose(kNothing), std::nullopt);
  empty.learn(parse_schedule("own_schedule()\n"), 1);
  EXPECT_EQ(empty.propose(kNothing), std::nullopt);
}

TEST_F(EditSearchTest, proposes_legal_schedules_and_none_that_is_known) {
  EditSearch edits = search();
  edits.learn(start(), 1);
  std::set<Digest> known = {digest(start())};
  for (int i = 0; i < 60; ++i) {
    const auto proposed = edits.propose([&](const Digest& schedule) { return known.contains(schedule); });
    ASSERT_TRUE(proposed);
    EXPECT_EQ(legality.find_illegal(*proposed), std::nullopt) << print(*proposed);
    EXPECT_TRUE(known.insert(digest(*proposed)).second) << print(*proposed);
  }
}

TEST_F(EditSearchTest, with_the_same_seed_and_outcomes_proposes_the_same) {
  EditSearch one = search(7), same = search(7), other = search(8);
  bool differs = false;
  for (EditSearch* edits : {&one, &same, &other}) edits->learn(start(), 1);
  for (int i = 0; i < 20; ++i) {
    const auto proposed = one.propose(kNothing);
    EXPECT_EQ(same.propose(kNothing), proposed);
    differs |= other.propose(kNothing) != proposed;
  }
  EXPECT_TRUE(differs);
}

// Everything in it is slower: what is proposed is of the better one.
TEST_F(EditSearchTest, edits_the_best_and_leaves_what_is_far_behind) {
  EditSearch edits = search();
  edits.learn(parse_schedule("c.compute_root()\n"), 10);
  edits.learn(start(), 1);
  for (int i = 0; i < 20; ++i) {
    const auto proposed = edits.propose(kNothing);
    ASSERT_TRUE(proposed);
    EXPECT_GE(proposed->directives.size(), 2u) << print(*proposed);
  }
}

}  // namespace
}  // namespace kiln::autotune
