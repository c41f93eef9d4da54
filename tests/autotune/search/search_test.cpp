#include "autotune/search/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace kiln::autotune {
namespace {

using schedules::Knob;
using schedules::Point;
using schedules::range;
using schedules::Space;

// 12 x 12 x 6 x 2 knobs with a constraint: 1,464 points.
Space hills() {
  Space space("hills");
  const Knob x = space.knob("x", range(0, 11)), y = space.knob("y", range(0, 11));
  space.knob("z", range(0, 5));
  space.knob("w", {0, 1});
  space.require("x and y not both above 8", [](std::int64_t a, std::int64_t b) { return a <= 8 || b <= 8; }, x, y);
  space.seed({{"x", 2}, {"y", 2}}, "hand");
  return space;
}

// Two basins; the optimum 0.5 at x=7 y=4 z=3 w=1, a lesser minimum near x=1 y=10. Every 7th combination fails.
Outcome landscape(const Point& point) {
  const auto at = [&](std::size_t k) { return static_cast<double>(std::get<std::int64_t>(point.value(k))); };
  const double x = at(0), y = at(1), z = at(2), w = at(3);
  if (std::fmod(3 * x + 5 * y + z, 7) == 1) return std::nullopt;
  const double main = 0.5 + 0.05 * (std::abs(x - 7) + std::abs(y - 4)) + 0.04 * std::abs(z - 3) + 0.1 * (1 - w);
  const double lesser = 0.6 + 0.05 * (std::abs(x - 1) + std::abs(y - 10)) + 0.04 * std::abs(z) + 0.1 * w;
  return std::min(main, lesser);
}

std::vector<Proposal> run(Search& search, std::size_t trials) {
  std::vector<Proposal> proposals;
  for (std::size_t i = 0; i < trials; ++i) {
    const auto proposal = search.propose();
    if (!proposal) break;
    proposals.push_back(*proposal);
    search.observe(proposal->point, landscape(proposal->point));
  }
  return proposals;
}

double best_of(const Search& search) {
  double best = INFINITY;
  for (const Trial& trial : search.trials()) best = std::min(best, trial.outcome.value_or(INFINITY));
  return best;
}

TEST(Search, proposes_seeds_first_then_a_fifth_at_random_then_walks) {
  const auto search = make_search(hills(), {.seed = 1, .expected_trials = 100});
  const std::vector<Proposal> proposals = run(*search, 100);
  EXPECT_EQ(proposals[0].phase, Phase::seed);
  EXPECT_EQ(print(proposals[0].point), "x=2 y=2 z=0 w=0");
  for (std::size_t i = 1; i <= 20; ++i) EXPECT_EQ(proposals[i].phase, Phase::random);
  std::size_t local = 0;
  for (std::size_t i = 21; i < 100; ++i) {
    EXPECT_TRUE(proposals[i].phase == Phase::local || proposals[i].phase == Phase::restart);
    local += proposals[i].phase == Phase::local;
  }
  EXPECT_GT(local, 70u);
}

// A model that is right about y and knows nothing else.
TEST(Search, draws_by_model_are_the_cheapest_of_several) {
  Space space = hills();
  space.schedule_as([](const Point& point) {
    Schedule schedule;
    Chain(schedule, "f").add("split", "x", "xo", "xi", std::get<std::int64_t>(point.value(1)) + 1);
    return schedule;
  });
  const auto cost_of = [](const Schedule& schedule) { return std::optional(static_cast<double>(std::get<std::int64_t>(schedule.directives[0].arguments[3]))); };
  const auto mean_y = [](const std::vector<Proposal>& proposals, Phase phase) {
    double sum = 0, count = 0;
    for (const Proposal& proposal : proposals)
      if (proposal.phase == phase) sum += static_cast<double>(std::get<std::int64_t>(proposal.point.value(1))), ++count;
    EXPECT_EQ(count, phase == Phase::model ? 10 : 20) << print(phase);
    return sum / count;
  };
  const auto informed = make_search(space, {.seed = 1, .expected_trials = 100, .cost = cost_of});
  const std::vector<Proposal> proposals = run(*informed, 60);
  EXPECT_LT(mean_y(proposals, Phase::model), mean_y(proposals, Phase::random) / 2);

  const auto silent = make_search(space, {.seed = 1, .expected_trials = 100, .cost = [](const Schedule&) { return std::optional<double>(); }});
  EXPECT_GT(mean_y(run(*silent, 60), Phase::model), 3) << "what has no cost is drawn as random is";
}

TEST(Search, a_local_proposal_is_one_step_away_from_something_that_succeeded) {
  const Space space = hills();
  const auto search = make_search(space, {.seed = 2, .expected_trials = 100});
  std::vector<Point> succeeded;
  for (const Proposal& proposal : run(*search, 100)) {
    if (proposal.phase == Phase::local) {
      EXPECT_TRUE(std::any_of(succeeded.begin(), succeeded.end(), [&](const Point& point) {
        int different = 0;
        for (std::size_t k = 0; k < 4; ++k) different += point.choice()[k] != proposal.point.choice()[k];
        if (different == 1) return true;
        // More than one knob changes only where the constraint over x and y leaves no other way to the value.
        return different == 2 && point.choice()[0] != proposal.point.choice()[0] && point.choice()[1] != proposal.point.choice()[1] &&
               std::max(point.choice()[0], point.choice()[1]) > 8;
      })) << print(proposal.point);
    }
    if (landscape(proposal.point)) succeeded.push_back(proposal.point);
  }
}

TEST(Search, never_proposes_a_point_twice_and_ends_with_the_space) {
  for (const bool random_only : {false, true}) {
    const SearchPlan plan{.seed = 3, .expected_trials = 60};
    const auto search = random_only ? make_random_search(hills(), plan) : make_search(hills(), plan);
    std::set<Point> seen;
    for (const Proposal& proposal : run(*search, 100'000)) EXPECT_TRUE(seen.insert(proposal.point).second) << print(proposal.point);
    EXPECT_EQ(seen.size(), *hills().count());
    EXPECT_FALSE(search->propose().has_value()) << "nothing is left";
  }
}

TEST(Search, a_space_that_fits_is_exhausted_in_random_order) {
  const auto search = make_search(hills(), {.seed = 4, .expected_trials = 2000});
  const std::vector<Proposal> proposals = run(*search, 100'000);
  EXPECT_EQ(proposals.size(), *hills().count());
  std::size_t in_rank_order = 0;
  for (std::size_t i = 1; i < proposals.size(); ++i) {
    EXPECT_EQ(proposals[i].phase, Phase::exhaustive);
    in_rank_order += i > 1 && proposals[i - 1].point < proposals[i].point;
  }
  EXPECT_NEAR(static_cast<double>(in_rank_order), 732, 100);
}

TEST(Search, finds_the_known_optimum_where_random_search_does_not) {
  int found = 0, found_at_random = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SearchPlan plan{.seed = seed, .expected_trials = 150};
    const auto search = make_search(hills(), plan), random = make_random_search(hills(), plan);
    run(*search, 150);
    run(*random, 150);
    found += best_of(*search) == 0.5;
    found_at_random += best_of(*random) == 0.5;
  }
  EXPECT_GE(found, 18);
  EXPECT_LE(found_at_random, 8);
}

TEST(Search, the_same_seed_and_outcomes_give_the_same_proposals) {
  for (const std::size_t batch : {std::size_t{1}, std::size_t{8}}) {
    const SearchPlan plan{.seed = 5, .expected_trials = 100};
    const auto one = make_search(hills(), plan), other = make_search(hills(), plan);
    for (std::size_t done = 0; done < 160; done += batch) {
      std::vector<Proposal> proposals;
      for (std::size_t i = 0; i < batch; ++i) {
        proposals.push_back(*one->propose());
        const auto replayed = other->propose();
        EXPECT_EQ(replayed->point, proposals.back().point);
        EXPECT_EQ(replayed->phase, proposals.back().phase);
      }
      for (const Proposal& proposal : proposals) {
        one->observe(proposal.point, landscape(proposal.point));
        other->observe(proposal.point, landscape(proposal.point));
      }
    }
  }
}

TEST(Search, another_seed_gives_other_proposals) {
  const auto one = make_search(hills(), {.seed = 6}), other = make_search(hills(), {.seed = 7});
  int different = 0;
  for (int i = 0; i < 20; ++i) different += one->propose()->point != other->propose()->point;
  EXPECT_GT(different, 15);
}

TEST(Search, resumes_from_past_outcomes_without_repeating_them) {
  const auto first = make_search(hills(), {.seed = 8, .expected_trials = 100});
  run(*first, 60);
  const std::vector<Trial> past = first->trials();
  ASSERT_EQ(past.size(), 60u);

  const auto resumed = make_search(hills(), {.seed = 8, .expected_trials = 100});
  resumed->resume(past);
  std::set<Point> seen;
  for (const Trial& trial : past) seen.insert(trial.point);
  const std::vector<Proposal> proposals = run(*resumed, 90);
  for (const Proposal& proposal : proposals) {
    EXPECT_TRUE(seen.insert(proposal.point).second);
    EXPECT_NE(proposal.phase, Phase::random) << "the random phase was over";
    EXPECT_NE(proposal.phase, Phase::seed);
  }
  EXPECT_EQ(best_of(*resumed), 0.5);
}

TEST(Search, a_batch_asked_for_before_any_outcome_is_all_different) {
  const auto search = make_search(hills(), {.seed = 9, .expected_trials = 20});
  std::set<Point> seen;
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(seen.insert(search->propose()->point).second);
}

TEST(Search, when_everything_fails_it_goes_on_drawing) {
  const auto search = make_search(hills(), {.seed = 10, .expected_trials = 30});
  for (int i = 0; i < 60; ++i) search->observe(search->propose()->point, std::nullopt);
  EXPECT_EQ(search->trials().size(), 60u);
}

TEST(Search, an_unsatisfiable_space_has_nothing_to_propose) {
  Space space("empty");
  const Knob a = space.knob("a", {1});
  space.require("never", [](std::int64_t) { return false; }, a);
  EXPECT_FALSE(make_search(space, {})->propose().has_value());
  EXPECT_FALSE(make_random_search(space, {})->propose().has_value());
}

TEST(Search, phases_print_and_parse_back) {
  for (const Phase phase : {Phase::seed, Phase::exhaustive, Phase::random, Phase::model, Phase::local, Phase::restart}) {
    EXPECT_EQ(parse_phase(print(phase)), phase);
  }
  EXPECT_EQ(parse_phase("annealing"), std::nullopt);
}

// Averages over every subset, listed.
double listed_expected_best_of(std::size_t n, const std::vector<double>& values) {
  double sum = 0;
  int subsets = 0;
  for (unsigned mask = 0; mask < (1u << values.size()); ++mask) {
    if (static_cast<std::size_t>(__builtin_popcount(mask)) != n) continue;
    double best = INFINITY;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((mask >> i & 1u) != 0) best = std::min(best, values[i]);
    }
    sum += best;
    ++subsets;
  }
  return sum / subsets;
}

TEST(Search, the_expected_best_of_n_is_the_average_over_all_subsets) {
  const std::vector<double> values = {1.0, 0.6, 0.9, 0.6, 1.7, 0.8, 0.75, 1.2};
  for (std::size_t n = 1; n <= values.size(); ++n) EXPECT_NEAR(expected_best_of(n, values), listed_expected_best_of(n, values), 1e-12) << n;
}

}  // namespace
}  // namespace kiln::autotune
