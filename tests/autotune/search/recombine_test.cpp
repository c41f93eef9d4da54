#include "autotune/search/recombine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autotune/search/search.h"

namespace kiln::autotune {
namespace {

using schedules::Point;
using schedules::Space;

// Three stages with two knobs each; a stage is good only when both of its knobs are.
Space stages() {
  Space space("stages");
  for (const char* name : {"a.f", "b.f", "a.g", "b.g", "a.h", "b.h"}) space.knob(name, schedules::range(0, 15));
  space.seed({}, "the lowest");
  space.schedule_as([](const Point&) { return Schedule(); });
  return space;
}

double cost(const Point& point) {
  double sum = 1;
  for (std::size_t stage = 0; stage < 3; ++stage) {
    const auto far = [&](std::size_t knob, int from) { return std::abs(static_cast<int>(point.choice()[knob]) - from); };
    sum += std::max(far(2 * stage, 11), far(2 * stage + 1, 5));
  }
  return sum;
}

std::size_t stages_that_differ(const Point& a, const Point& b) {
  std::size_t differ = 0;
  for (std::size_t stage = 0; stage < 3; ++stage) differ += a.choice()[2 * stage] != b.choice()[2 * stage] || a.choice()[2 * stage + 1] != b.choice()[2 * stage + 1];
  return differ;
}

class RecombineTest : public testing::Test {
 protected:
  RecombineTest() : ledger(stages(), 3) {
    for (int i = 0; i < 8; ++i) {
      const Point point = *ledger.new_draw();
      ledger.record(point, Phase::random);
      ledger.observe(point, cost(point));
    }
  }
  Ledger ledger;
};

TEST_F(RecombineTest, a_child_is_a_known_point_but_for_one_stage_or_two) {
  const std::size_t known = ledger.entries().size();
  for (int i = 0; i < 40; ++i) {
    for (const Source source : {Source::draw, Source::good_point}) {
      const auto child = recombined(ledger, source);
      ASSERT_TRUE(child);
      EXPECT_TRUE(ledger.space().is_valid(*child));
      EXPECT_FALSE(ledger.find(*child));
      std::size_t nearest = 3;
      for (std::size_t e = 0; e < known; ++e) nearest = std::min(nearest, stages_that_differ(*child, ledger.entries()[e].trial.point));
      EXPECT_LE(nearest, 2u) << print(*child);
    }
  }
}

TEST_F(RecombineTest, a_crossed_child_has_each_stage_from_a_known_point) {
  for (int i = 0; i < 40; ++i) {
    const auto child = recombined(ledger, Source::good_point);
    ASSERT_TRUE(child);
    for (std::size_t stage = 0; stage < 3; ++stage)
      EXPECT_TRUE(std::any_of(ledger.entries().begin(), ledger.entries().end(), [&](const Ledger::Entry& entry) {
        const auto& known = entry.trial.point.choice();
        return known[2 * stage] == child->choice()[2 * stage] && known[2 * stage + 1] == child->choice()[2 * stage + 1];
      })) << print(*child);
  }
}

TEST(Recombine, makes_nothing_of_nothing_and_of_a_space_of_one_stage) {
  Ledger empty(stages(), 1);
  EXPECT_EQ(recombined(empty, Source::draw), std::nullopt);
  Space space("one");
  space.knob("x", schedules::range(0, 9));
  Ledger one(std::move(space), 1);
  const Point point = *one.new_draw();
  one.record(point, Phase::random);
  one.observe(point, 1.0);
  EXPECT_EQ(recombined(one, Source::draw), std::nullopt);
}

// What a hundred trials find of 16^6 points, against random search.
TEST(Recombine, finds_better_points_than_random_search_where_stages_are_independent) {
  double searched = 0, drawn = 0;
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    const SearchPlan plan{.seed = seed, .expected_trials = 100};
    for (const bool is_random : {false, true}) {
      const auto search = is_random ? make_random_search(stages(), plan) : make_search(stages(), plan);
      double best = INFINITY;
      for (int i = 0; i < 100; ++i) {
        const auto proposal = search->propose();
        ASSERT_TRUE(proposal);
        best = std::min(best, cost(proposal->point));
        search->observe(proposal->point, cost(proposal->point));
      }
      (is_random ? drawn : searched) += best;
    }
  }
  EXPECT_LT(searched, 0.8 * drawn);
}

}  // namespace
}  // namespace kiln::autotune
