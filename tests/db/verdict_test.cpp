// The decision on synthetic rows whose answer is known.
#include "db/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace kiln::db {
namespace {

RaceRatio in_race(int race, double ratio, double half_width = 0.01, double floor = 0.001) {
  return {.race = race, .ratio = ratio, .lo = ratio - half_width, .hi = ratio + half_width, .floor = floor, .value_ns = 1000 * ratio};
}

Contender contender(const std::string& name, std::vector<RaceRatio> races) {
  Contender c;
  c.schedule = digest("schedule", name);
  c.is_verified = true;
  c.resources = {0, 0, 0, 100};
  c.races = std::move(races);
  return c;
}

Contender baseline(int races = 1) {
  Contender c = contender("baseline", {});
  c.is_baseline = true;
  for (int i = 1; i <= races; ++i) c.races.push_back({.race = i, .ratio = 1, .lo = 1, .hi = 1, .floor = 0.001, .value_ns = 1000});
  return c;
}

Standing standing_of(const Verdict& verdict, std::size_t contender) {
  return std::find_if(verdict.order.begin(), verdict.order.end(), [&](const Placed& p) { return p.contender == contender; })->standing;
}

TEST(Verdict, chooses_the_fastest_that_is_shown_to_be_faster) {
  const Verdict verdict = decide({baseline(), contender("a", {in_race(1, 0.7)}), contender("b", {in_race(1, 0.5)})});
  EXPECT_EQ(verdict.chosen, 2u);
  EXPECT_EQ(standing_of(verdict, 1), Standing::slower);
  EXPECT_EQ(standing_of(verdict, 0), Standing::slower);
  EXPECT_FALSE(verdict.is_tie_with_baseline);
  EXPECT_EQ(verdict.why, "0.500 of the baseline's time (95 %: 0.490 to 0.510, 1 race)");
}

TEST(Verdict, never_chooses_what_is_not_shown_to_be_at_least_as_fast_as_the_baseline) {
  const Verdict verdict = decide({baseline(), contender("a", {in_race(1, 0.97, 0.05)}), contender("b", {in_race(1, 1.2)})});
  EXPECT_EQ(verdict.chosen, 0u);
  EXPECT_EQ(standing_of(verdict, 1), Standing::not_faster);
  EXPECT_EQ(standing_of(verdict, 2), Standing::not_faster);
  EXPECT_EQ(verdict.why, "the baseline: nothing was shown to be at least as fast");
}

TEST(Verdict, calls_a_near_tie_with_the_baseline_no_win) {
  const Verdict verdict = decide({baseline(), contender("a", {in_race(1, 0.993, 0.002)})});
  EXPECT_EQ(verdict.chosen, 0u);
  EXPECT_TRUE(verdict.is_tie_with_baseline);
  EXPECT_EQ(standing_of(verdict, 1), Standing::tied);
  EXPECT_EQ(verdict.why, "the baseline: the best candidate cannot be told apart from it (0.7 % faster)");
}

TEST(Verdict, keeps_the_incumbent_inside_a_tie) {
  Contender incumbent = contender("old", {in_race(1, 0.505)});
  incumbent.is_incumbent = true;
  const Verdict verdict = decide({baseline(), contender("new", {in_race(1, 0.500)}), incumbent});
  EXPECT_EQ(verdict.chosen, 2u);
  EXPECT_EQ(standing_of(verdict, 1), Standing::tied);
  EXPECT_EQ(verdict.why, "0.505 of the baseline's time (95 %: 0.495 to 0.515, 1 race), kept with 1 other that cannot be told apart");
}

TEST(Verdict, replaces_the_incumbent_by_what_is_clearly_faster) {
  Contender incumbent = contender("old", {in_race(1, 0.6)});
  incumbent.is_incumbent = true;
  EXPECT_EQ(decide({baseline(), contender("new", {in_race(1, 0.5)}), incumbent}).chosen, 1u);
}

TEST(Verdict, inside_a_tie_prefers_the_incumbents_numerics_then_the_mildest_then_fewer_resources_then_the_smaller_digest) {
  Contender incumbent = contender("old", {in_race(1, 0.7)});
  incumbent.is_incumbent = true;
  incumbent.numerics_rank = 2;
  Contender same_class = contender("a", {in_race(1, 0.502)}), milder = contender("b", {in_race(1, 0.500)});
  same_class.numerics_rank = 2;
  EXPECT_EQ(decide({baseline(), incumbent, same_class, milder}).chosen, 2u);

  incumbent.is_incumbent = false;  // the baseline's class counts now: 0
  EXPECT_EQ(decide({baseline(), incumbent, same_class, milder}).chosen, 3u);

  Contender lean = contender("c", {in_race(1, 0.503)});
  lean.resources = {0, 0, 0, 50};
  EXPECT_EQ(decide({baseline(), milder, lean}).chosen, 2u);

  const Contender x = contender("x", {in_race(1, 0.5)}), y = contender("y", {in_race(1, 0.5)});
  const Verdict verdict = decide({baseline(), x, y});
  EXPECT_EQ(verdict.chosen, x.schedule < y.schedule ? 1u : 2u);
}

TEST(Verdict, a_tie_follows_the_interval_or_the_margin_of_twice_the_floor) {
  // 3 % apart: told apart by narrow intervals …
  EXPECT_EQ(standing_of(decide({baseline(), contender("a", {in_race(1, 0.500, 0.001)}), contender("b", {in_race(1, 0.515, 0.001)})}), 2), Standing::slower);
  // … not by wide ones …
  const Verdict wide = decide({baseline(), contender("a", {in_race(1, 0.500, 0.02)}), contender("b", {in_race(1, 0.515, 0.02)})});
  EXPECT_NE(standing_of(wide, 2), Standing::slower);
  // … nor when two equal kernels differ by 2 % on this machine.
  const Verdict noisy = decide({baseline(), contender("a", {in_race(1, 0.500, 0.001, 0.02)}), contender("b", {in_race(1, 0.515, 0.001, 0.02)})});
  EXPECT_NE(standing_of(noisy, 2), Standing::slower);
  // 1.5 % apart ties only under the margin of short GPU kernels.
  const std::vector<Contender> close{baseline(), contender("a", {in_race(1, 0.5000, 0.0001)}), contender("b", {in_race(1, 0.5075, 0.0001)})};
  EXPECT_EQ(standing_of(decide(close), 2), Standing::slower);
  EXPECT_NE(standing_of(decide(close, {.minimum_margin = 0.02}), 2), Standing::slower);
}

TEST(Verdict, leaves_out_the_unverified_the_unmeasured_and_the_banned) {
  Contender wrong = contender("wrong", {in_race(1, 0.1)}), banned = contender("banned", {in_race(1, 0.2)});
  wrong.is_verified = false;
  banned.is_banned = true;
  const Verdict verdict = decide({baseline(), wrong, banned, contender("contended", {}), contender("good", {in_race(1, 0.8)})});
  EXPECT_EQ(verdict.chosen, 4u);
  EXPECT_EQ(standing_of(verdict, 1), Standing::unverified);
  EXPECT_EQ(standing_of(verdict, 2), Standing::banned);
  EXPECT_EQ(standing_of(verdict, 3), Standing::unmeasured);
}

TEST(Verdict, chooses_nothing_without_a_clean_verified_final) {
  const Verdict verdict = decide({contender("a", {}), baseline(0)});
  EXPECT_FALSE(verdict.chosen.has_value());
  EXPECT_EQ(verdict.why, "no candidate, not even the baseline, has a passed check and a clean final");
  EXPECT_FALSE(decide({}).chosen.has_value());
}

TEST(Verdict, a_pin_wins_even_when_slower_and_says_so) {
  Contender pinned = contender("pinned", {in_race(1, 1.1)});
  pinned.is_pinned = true;
  const Verdict verdict = decide({baseline(), contender("a", {in_race(1, 0.5)}), pinned});
  EXPECT_EQ(verdict.chosen, 2u);
  EXPECT_EQ(verdict.why,
            "pinned: 1.100 of the baseline's time (95 %: 1.090 to 1.110, 1 race), not shown to be at least as fast as the baseline");
  pinned.is_verified = false;
  EXPECT_EQ(decide({baseline(), contender("a", {in_race(1, 0.5)}), pinned}).chosen, 1u);
}

TEST(Verdict, merges_races_by_the_median_of_ratios) {
  // Race 2 ran on a disturbed machine: its ratio must not decide.
  const Contender a = contender("a", {in_race(1, 0.50), in_race(2, 0.90), in_race(3, 0.51)});
  const Contender b = contender("b", {in_race(1, 0.60), in_race(2, 0.60), in_race(3, 0.60)});
  const Verdict verdict = decide({baseline(3), a, b});
  const Placed& of_a = *std::find_if(verdict.order.begin(), verdict.order.end(), [](const Placed& p) { return p.contender == 1; });
  EXPECT_DOUBLE_EQ(of_a.against_baseline->ratio, 0.51);
}

TEST(Verdict, compares_within_races_when_candidates_share_them) {
  // Both drift by 20 % from race to race, b is 3 % slower in each.
  const Contender a = contender("a", {in_race(1, 0.50, 0.001), in_race(2, 0.60, 0.001), in_race(3, 0.55, 0.001)});
  const Contender b = contender("b", {in_race(1, 0.515, 0.001), in_race(2, 0.618, 0.001), in_race(3, 0.5665, 0.001)});
  EXPECT_EQ(standing_of(decide({baseline(3), a, b}), 2), Standing::slower);
}

TEST(Verdict, compares_by_the_baseline_when_candidates_never_met) {
  const Contender a = contender("a", {in_race(1, 0.50, 0.001)}), b = contender("b", {in_race(2, 0.60, 0.001)}), c = contender("c", {in_race(2, 0.501, 0.001)});
  const Verdict verdict = decide({baseline(2), a, b, c});
  EXPECT_EQ(standing_of(verdict, 2), Standing::slower);
  EXPECT_NE(standing_of(verdict, 3), Standing::slower);
}

TEST(Verdict, an_unbounded_interval_is_never_eligible) {
  Contender once = contender("once", {{.race = 1, .ratio = 0.5, .lo = 0, .hi = std::numeric_limits<double>::infinity(), .floor = 0.001, .value_ns = 500}});
  EXPECT_EQ(decide({baseline(), once}).chosen, 0u);
}

TEST(Verdict, does_not_depend_on_the_order_of_its_rows) {
  std::mt19937 random(3);
  std::vector<Contender> field{baseline(3)};
  for (int i = 0; i < 30; ++i) {
    const double ratio = 0.5 + 0.004 * i;
    field.push_back(contender("c" + std::to_string(i), {in_race(1, ratio), in_race(2, ratio * 1.01), in_race(3, ratio * 0.99)}));
    field.back().is_incumbent = i == 3;
  }
  const auto digests = [&](const std::vector<Contender>& of) {
    std::vector<Digest> order;
    for (const Placed& placed : decide(of).order) order.push_back(of[placed.contender].schedule);
    return order;
  };
  const std::vector<Digest> expected = digests(field);
  ASSERT_EQ(expected.size(), field.size());
  for (int i = 0; i < 20; ++i) {
    std::shuffle(field.begin(), field.end(), random);
    EXPECT_EQ(digests(field), expected);
  }
}

TEST(Combine, one_race_keeps_its_interval) {
  const Interval95 one = combine({{.race = 1, .ratio = 0.5, .lo = 0.4, .hi = 0.7, .floor = 0, .value_ns = 1}});
  EXPECT_DOUBLE_EQ(one.ratio, 0.5);
  EXPECT_NEAR(one.lo, 0.4, 1e-12);
  EXPECT_NEAR(one.hi, 0.7, 1e-12);
}

TEST(Combine, races_that_agree_narrow_the_interval_and_races_that_differ_widen_it) {
  std::vector<RaceRatio> agreeing, differing;
  for (int i = 0; i < 9; ++i) {
    agreeing.push_back(in_race(i, 0.5));
    differing.push_back(in_race(i, i % 2 ? 0.4 : 0.6));
  }
  const Interval95 narrow = combine(agreeing), wide = combine(differing);
  EXPECT_LT(narrow.hi - narrow.lo, 0.01);
  EXPECT_GT(wide.hi - wide.lo, 0.1);
}

TEST(Combine, covers_the_true_ratio_nineteen_times_in_twenty) {
  std::mt19937 random(11);
  std::normal_distribution<double> between(0, 0.02), within(0, 0.005);
  int covered = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<RaceRatio> races;
    for (int i = 0; i < 8; ++i) {
      const double ratio = 0.8 * std::exp(between(random) + within(random));
      races.push_back({.race = i, .ratio = ratio, .lo = ratio * std::exp(-1.96 * 0.005), .hi = ratio * std::exp(1.96 * 0.005), .floor = 0, .value_ns = 1});
    }
    const Interval95 result = combine(races);
    covered += result.lo <= 0.8 && 0.8 <= result.hi;
  }
  EXPECT_GT(covered, kRounds * 92 / 100);  // 92 %: eight races estimate their own spread poorly
}

TEST(Verdict, standings_have_words) {
  EXPECT_EQ(print(Standing::not_faster), "not_faster");
  EXPECT_EQ(print(Standing::unmeasured), "unmeasured");
  EXPECT_LT(numerics_rank("none"), numerics_rank("reorders"));
  EXPECT_LT(numerics_rank("approximates"), numerics_rank("any_order"));
  EXPECT_LT(numerics_rank("any_order"), numerics_rank("unknown"));
}

}  // namespace
}  // namespace kiln::db
