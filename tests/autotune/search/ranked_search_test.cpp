#include "autotune/search/ranked_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "autotune/search/ranking.h"

namespace kiln::autotune {
namespace {

using schedules::Knob;
using schedules::Point;
using schedules::range;
using schedules::Space;

std::int64_t number(const Point& point, std::size_t knob) { return std::get<std::int64_t>(point.value(knob)); }

// 30 x 30 tiles, eight stages, and a hint that changes little: 14,400 points. One schedule a point.
Space tiles() {
  Space space("tiles");
  const Knob x = space.knob("x", range(0, 29)), y = space.knob("y", range(0, 29)), z = space.knob("z", range(0, 7)), hint = space.knob("hint", {0, 1});
  space.schedule_as([=](const Point& p) {
    Schedule schedule;
    Chain(schedule, "f").add("split", "x", "xo", "xi", p[x]).add("split", "y", "yo", "yi", p[y]).add("split", "z", "zo", "zi", p[z]).add("split", "w", "wo", "wi", p[hint]);
    return schedule;
  });
  space.seed({{"x", 25}, {"y", 25}}, "far off");
  space.seed({{"x", 10}, {"y", 12}, {"z", 4}}, "by hand");
  return space;
}

// What the model thinks: least at x=10 y=14 z=5.
std::optional<double> thought(const Schedule& schedule) {
  const auto at = [&](std::size_t directive) { return static_cast<double>(std::get<std::int64_t>(schedule.directives[directive].arguments[3])); };
  return 100 * (1 + 0.02 * std::abs(at(0) - 10) + 0.02 * std::abs(at(1) - 14) + 0.01 * std::abs(at(2) - 5) + 0.002 * at(3));
}

// What is: columns of tiles at y=14 take a tenth longer than it thinks, everything 1.7 of its unit.
double truth(const Space& space, const Point& point) { return 1.7e-2 * *thought(space.schedule(point)) * (number(point, 1) == 14 ? 1.1 : 1); }

SearchPlan plan(std::uint64_t seed = 1) { return {.seed = seed, .expected_trials = 64, .cost = thought, .cost_ranks = true}; }

std::vector<Proposal> run(const Space& space, const SearchPlan& plan, std::size_t trials, std::size_t batch = 1) {
  const auto search = make_search(space, plan);
  std::vector<Proposal> proposals;
  while (proposals.size() < trials) {
    const std::size_t before = proposals.size();
    for (std::size_t i = 0; i < batch; ++i)
      if (const auto proposal = search->propose()) proposals.push_back(*proposal);
    if (proposals.size() == before) break;
    for (std::size_t i = before; i < proposals.size(); ++i) search->observe(proposals[i].point, truth(space, proposals[i].point));
  }
  return proposals;
}

TEST(RankedSearch, begins_with_what_the_cost_thinks_best_and_with_the_seeds_that_are_not_far_behind) {
  const std::vector<Proposal> proposals = run(tiles(), plan(), 16, 16);
  EXPECT_EQ(proposals[0].phase, Phase::model);
  EXPECT_EQ(print(proposals[0].point), "x=10 y=14 z=5 hint=0");
  EXPECT_EQ(proposals[2].phase, Phase::seed);
  EXPECT_EQ(print(proposals[2].point), "x=10 y=12 z=4 hint=0");
  for (std::size_t i = 3; i < proposals.size(); ++i) EXPECT_NE(proposals[i].phase, Phase::seed) << "the other seed is thought to be 1.5 times as slow";
  EXPECT_EQ(proposals[7].phase, Phase::random);
  EXPECT_EQ(proposals[15].phase, Phase::random);
}

TEST(RankedSearch, tries_near_ties_in_different_places_first) {
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  std::size_t models = 0;
  for (const Proposal& proposal : run(tiles(), plan(), 16, 16)) {
    if (proposal.phase != Phase::model) continue;
    ++models;
    places.insert({number(proposal.point, 0), number(proposal.point, 1)});
  }
  EXPECT_GE(models, 8u);
  EXPECT_GE(places.size(), models / 2);
}

TEST(RankedSearch, learns_where_the_cost_is_wrong) {
  const Space space = tiles();
  double best = INFINITY;
  for (std::uint64_t i = 0; i < *space.count(); ++i) best = std::min(best, truth(space, space.unrank(i)));
  double found = INFINITY;
  for (const Proposal& proposal : run(space, plan(), 32, 8)) found = std::min(found, truth(space, proposal.point));
  EXPECT_LE(found, 1.01 * best);
}

TEST(RankedSearch, the_same_seed_and_outcomes_give_the_same_proposals) {
  for (const std::size_t batch : {std::size_t{1}, std::size_t{8}}) {
    const std::vector<Proposal> once = run(tiles(), plan(5), 64, batch), again = run(tiles(), plan(5), 64, batch);
    ASSERT_EQ(once.size(), again.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(print(once[i].point), print(again[i].point)) << i;
      EXPECT_EQ(once[i].phase, again[i].phase) << i;
    }
  }
}

TEST(RankedSearch, never_proposes_a_point_twice_and_ends_with_the_space) {
  Space space("few");
  space.knob("x", range(0, 9));
  space.knob("y", range(0, 5));
  space.schedule_as([](const Point& p) {
    Schedule schedule;
    Chain(schedule, "f").add("split", "x", "xo", "xi", number(p, 0) + number(p, 1) + 1);
    return schedule;
  });
  // Half of the points have no cost: they come by draws.
  const auto cost = [](const Schedule& schedule) {
    const auto sum = static_cast<double>(std::get<std::int64_t>(schedule.directives[0].arguments[3]));
    return std::fmod(sum, 2) == 0 ? std::optional(sum) : std::nullopt;
  };
  const auto search = make_search(space, {.seed = 3, .cost = cost, .cost_ranks = true});
  std::set<Point> seen;
  while (const auto proposal = search->propose()) {
    EXPECT_TRUE(seen.insert(proposal->point).second) << print(proposal->point);
    search->observe(proposal->point, number(proposal->point, 0) == 3 ? std::nullopt : Outcome(1.0));
  }
  EXPECT_EQ(seen.size(), 60u);
}

TEST(RankedSearch, goes_on_from_what_earlier_runs_did) {
  const Space space = tiles();
  std::vector<Trial> past;
  for (const Proposal& proposal : run(space, plan(), 24, 8)) past.push_back({proposal.point, proposal.phase, truth(space, proposal.point)});
  const auto search = make_search(space, plan());
  search->resume(past);
  EXPECT_EQ(search->trials().size(), past.size());
  for (int i = 0; i < 8; ++i) {
    const auto proposal = search->propose();
    ASSERT_TRUE(proposal);
    EXPECT_TRUE(std::none_of(past.begin(), past.end(), [&](const Trial& trial) { return trial.point == proposal->point; })) << print(proposal->point);
    EXPECT_FALSE(proposal->phase == Phase::model && number(proposal->point, 1) == 14) << "known to be slower than thought";
  }
}

TEST(Ranking, of_a_large_space_finds_the_least_cost_without_asking_for_all) {
  Space space("large");
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) space.knob(name, range(1, 12));
  space.schedule_as([](const Point& p) {
    Schedule schedule;
    Chain chain(schedule, "f");
    for (std::size_t k = 0; k < 6; ++k) chain.add("split", "x", "xo", "xi", number(p, k));
    return schedule;
  });
  int asked = 0;
  Ranking ranking(space, [&](const Schedule& schedule) {
    ++asked;
    double cost = 1;
    for (std::size_t k = 0; k < 6; ++k) cost += 0.03 * std::abs(static_cast<double>(std::get<std::int64_t>(schedule.directives[k].arguments[3])) - 2.0 * static_cast<double>(k));
    return std::optional(cost);
  });
  EXPECT_EQ(print(*ranking.best_apart()), "a=1 b=2 c=4 d=6 e=8 f=10");
  EXPECT_LE(asked, 20'000) << "of 2,985,984 points";
}

}  // namespace
}  // namespace kiln::autotune
