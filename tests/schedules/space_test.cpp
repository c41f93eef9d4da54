#include "schedules/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "dsl/error.h"

namespace kiln::schedules {
namespace {

// Five knobs, three constraints that chain them, one knob apart.
Space chained() {
  Space space("chained");
  const Knob a = space.knob("a", range(1, 6)), b = space.knob("b", range(1, 5)), c = space.knob("c", {1, 2, 4});
  const WordKnob order = space.words("order", {"nm", "mn"});
  space.knob("apart", {0, 1, 2});
  space.require("b must divide a", [](std::int64_t x, std::int64_t y) { return x % y == 0; }, a, b);
  space.limit("b times c registers", 6, [](std::int64_t y, std::int64_t z) { return y * z; }, b, c);
  space.require("mn needs c above 1", [](std::int64_t z, const std::string& o) { return o == "nm" || z > 1; }, c, order);
  space.schedule_as([=](const Point& p) {
    Schedule schedule;
    Chain(schedule, "f").add("split", "x", "xo", "xi", p[a]);
    return schedule;
  });
  return space;
}

std::vector<Point::Choice> product(const Space& space) {
  std::vector<Point::Choice> all{{}};
  for (const KnobDeclaration& knob : space.knobs()) {
    std::vector<Point::Choice> longer;
    for (const Point::Choice& prefix : all) {
      for (std::uint16_t v = 0; v < knob.values.size(); ++v) {
        longer.push_back(prefix);
        longer.back().push_back(v);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// A point of any choice, valid or not: parse does not ask constraints.
Point any_point(const Space& space, const Point::Choice& choice) {
  std::string text;
  for (std::size_t k = 0; k < choice.size(); ++k) text += space.knobs()[k].name + "=" + print(space.knobs()[k].values[choice[k]]) + " ";
  return space.parse(text);
}

std::set<Point> valid_points(const Space& space) {
  std::set<Point> valid;
  for (const Point::Choice& choice : product(space)) {
    Point point = any_point(space, choice);
    if (space.is_valid(point)) valid.insert(point);
  }
  return valid;
}

TEST(Space, counts_what_brute_force_counts) {
  const Space space = chained();
  const std::set<Point> valid = valid_points(space);
  EXPECT_EQ(space.count(), valid.size());
  EXPECT_LT(valid.size(), product(space).size());
}

TEST(Space, counts_random_spaces_as_brute_force_does) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    Space space("random");
    std::vector<Knob> knobs;
    for (int k = 0; k < 5; ++k) knobs.push_back(space.knob("k" + std::to_string(k), range(0, static_cast<std::int64_t>(1 + random.below(4)))));
    for (int c = 0; c < 4; ++c) {
      const Knob x = knobs[random.below(5)], y = knobs[random.below(5)], z = knobs[random.below(5)];
      const auto modulus = static_cast<std::int64_t>(2 + random.below(2));
      space.require("r", [=](std::int64_t u, std::int64_t v, std::int64_t w) { return (u + 2 * v + 3 * w) % modulus != 0; }, x, y, z);
    }
    const std::set<Point> valid = valid_points(space);
    ASSERT_EQ(space.count(), valid.size());
    EXPECT_EQ(space.unsatisfiable().has_value(), valid.empty());
    double removed = 0;
    for (const double drop : space.drops()) removed += drop;
    EXPECT_EQ(removed + static_cast<double>(valid.size()), static_cast<double>(product(space).size()));
  }
}

TEST(Space, ranks_are_a_bijection_onto_the_valid_points) {
  const Space space = chained();
  std::set<Point> seen;
  for (std::uint64_t rank = 0; rank < *space.count(); ++rank) {
    const Point point = space.unrank(rank);
    EXPECT_EQ(space.rank(point), rank);
    seen.insert(point);
  }
  EXPECT_EQ(seen, valid_points(space));
}

TEST(Space, samples_uniformly) {
  const Space space = chained();
  const auto points = static_cast<double>(*space.count());
  const int draws = 40'000;
  std::map<Point, int> seen;
  Random random(11);
  for (int i = 0; i < draws; ++i) ++seen[space.sample(random)];
  double chi_square = 0;
  const double expected = draws / points;
  for (std::uint64_t rank = 0; rank < *space.count(); ++rank) {
    const double difference = seen[space.unrank(rank)] - expected;
    chi_square += difference * difference / expected;
  }
  // Mean n − 1, deviation sqrt(2(n − 1)): five deviations.
  EXPECT_LT(chi_square, points - 1 + 5 * std::sqrt(2 * (points - 1)));
  EXPECT_EQ(static_cast<double>(seen.size()), points);
}

TEST(Space, the_same_seed_draws_the_same_points) {
  const Space space = chained();
  Random one(3), other(3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(space.sample(one), space.sample(other));
}

TEST(Space, neighbours_are_all_valid_points_one_knob_away) {
  const Space space = chained();
  const std::set<Point> valid = valid_points(space);
  for (const Point& point : valid) {
    std::set<Point> expected;
    for (const Point& other : valid) {
      int different = 0;
      for (std::size_t k = 0; k < point.choice().size(); ++k) different += point.choice()[k] != other.choice()[k];
      if (different == 1) expected.insert(other);
    }
    const std::vector<Point> near = space.neighbours(point);
    EXPECT_EQ(std::set<Point>(near.begin(), near.end()), expected);
    EXPECT_EQ(near.size(), expected.size());
  }
}

// 30 knobs of 4 values in a chain: 4^30 = 1.15e18 raw points; neighbours in the chain may not be equal.
TEST(Space, a_space_of_more_than_a_million_million_points_is_counted_and_sampled) {
  Space space("chain");
  std::vector<Knob> knobs;
  for (int k = 0; k < 30; ++k) knobs.push_back(space.knob("k" + std::to_string(k), range(0, 3)));
  for (std::size_t k = 1; k < 30; ++k) {
    space.require("differs from the one before", [](std::int64_t x, std::int64_t y) { return x != y; }, knobs[k - 1], knobs[k]);
  }
  EXPECT_EQ(space.count(), 4 * static_cast<std::uint64_t>(std::pow(3.0, 29)));  // 2.7e14
  Random random(1);
  std::map<std::int64_t, int> last;
  for (int i = 0; i < 4000; ++i) {
    const Point point = space.sample(random);
    EXPECT_TRUE(space.is_valid(point));
    EXPECT_EQ(space.unrank(space.rank(point)), point);
    ++last[point[knobs[29]]];
  }
  for (const auto& [value, times] : last) EXPECT_NEAR(times, 1000, 150) << value;
}

TEST(Space, beyond_two_to_the_63_the_count_is_approximate_and_samples_are_still_valid) {
  Space space("huge");
  std::vector<Knob> knobs;
  for (int k = 0; k < 100; ++k) knobs.push_back(space.knob("k" + std::to_string(k), range(0, 9)));
  space.require("k0 below k1", [](std::int64_t x, std::int64_t y) { return x < y; }, knobs[0], knobs[1]);
  EXPECT_EQ(space.count(), std::nullopt);
  EXPECT_NEAR(space.approximate_count() / 45e98, 1, 1e-12);
  Random random(5);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(space.is_valid(space.sample(random)));
}

TEST(Space, knobs_that_constraints_tie_together_beyond_counting_are_refused_by_name) {
  Space space("tied");
  std::vector<Knob> k;
  for (int i = 0; i < 4; ++i) k.push_back(space.knob("k" + std::to_string(i), range(0, 199)));
  space.require("sum is even", [](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) { return (a + b + c + d) % 2 == 0; }, k[0], k[1],
                k[2], k[3]);
  try {
    space.count();
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "space `tied` ties too many knobs together to be counted: after k0, k1, k2 more than 4000000 combinations must be told "
                 "apart; declare knobs next to those they share constraints with");
  }
}

TEST(Space, drops_count_points_by_the_constraint_asked_first) {
  Space space("drops");
  const Knob a = space.knob("a", range(1, 4)), b = space.knob("b", range(1, 4));
  space.knob("free", {0, 1});
  space.limit("product", 8, [](std::int64_t x, std::int64_t y) { return x * y; }, a, b);
  space.require("a is odd", [](std::int64_t x) { return x % 2 == 1; }, a);
  // a in {2, 4} falls to the second before b is bound: 2 x 4 x 2 points; of a in {1, 3} only 3x3 and 3x4 pass 8.
  EXPECT_EQ(space.drops(), (std::vector<double>{4, 16}));
  EXPECT_EQ(space.count(), 12u);
}

TEST(Space, an_unsatisfiable_space_names_the_constraint_that_removed_the_last_value) {
  Space space("empty");
  const Knob tile = space.knob("tile", {64, 128}), depth = space.knob("depth", {2, 4});
  space.require("tile must divide 64", [](std::int64_t t) { return 64 % t == 0; }, tile);
  space.limit("shared memory in bytes", 100, [](std::int64_t t, std::int64_t d) { return t * d; }, tile, depth);
  EXPECT_EQ(space.unsatisfiable(),
            "space `empty` has no points: knob `depth` has no value left; the last was removed by: shared memory in bytes");
  EXPECT_EQ(space.count(), 0u);
  EXPECT_EQ(chained().unsatisfiable(), std::nullopt);
}

TEST(Space, the_first_broken_constraint_is_named_with_both_numbers_of_a_limit) {
  const Space space = chained();
  EXPECT_EQ(space.first_violated(space.parse("a=5 b=2 c=4 order=nm apart=0")), "b must divide a");
  EXPECT_EQ(space.first_violated(space.parse("a=4 b=4 c=2 order=nm apart=0")), "b times c registers: 8 asked, at most 6");
  EXPECT_EQ(space.first_violated(space.parse("a=4 b=2 c=1 order=nm apart=0")), std::nullopt);
}

TEST(Space, points_print_and_parse_back) {
  const Space space = chained();
  for (std::uint64_t rank = 0; rank < *space.count(); ++rank) {
    const Point point = space.unrank(rank);
    EXPECT_EQ(space.parse(print(point)), point);
  }
  EXPECT_EQ(print(space.unrank(0)), "a=1 b=1 c=1 order=nm apart=0");
}

std::string parse_error(const std::string& text) {
  try {
    chained().parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Space, a_text_that_is_no_point_is_refused_by_knob) {
  EXPECT_EQ(parse_error("a=1 b=1 c=1 order=nm"), "point of space `chained`: knob `apart` is not set; values are 0, 1, 2");
  EXPECT_EQ(parse_error("a=7"), "point of space `chained`: knob `a` has no value `7`; values are 1, 2, 3, 4, 5, 6");
  EXPECT_EQ(parse_error("tile=7"), "point of space `chained`: no knob `tile`; there are a, b, c, order, apart");
  EXPECT_EQ(parse_error("a=1 a=2"), "point of space `chained`: knob `a` is set twice");
  EXPECT_EQ(parse_error("a"), "point of space `chained`: `a` is no knob=value");
}

template <typename Action>
std::string usage_error(const Action& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Space, knobs_that_cannot_be_are_refused) {
  Space space("s");
  space.knob("a", {1});
  EXPECT_EQ(usage_error([&] { space.knob("a", {1}); }), "space `s`: knob `a` is declared twice");
  EXPECT_EQ(usage_error([&] { space.knob("b", {}); }), "space `s`: knob `b` has no values; it needs at least one");
  EXPECT_EQ(usage_error([&] { space.knob("b", {2, 4, 2}); }), "space `s`: knob `b` has a value twice: 2, 4, 2");
  EXPECT_EQ(usage_error([&] { space.knob("b c", {1}); }),
            "space `s`: knob `b c` has a name that its text form cannot carry; a name is letters, digits and _ - + . #");
  EXPECT_EQ(usage_error([&] { space.words("w", {"a=b"}); }), "space `s`: knob `w` has the word `a=b`; a word is letters, digits and _ - + . #");
}

TEST(Space, a_seed_takes_the_nearest_values_and_is_dropped_when_it_breaks_a_constraint) {
  Space space = chained();
  EXPECT_TRUE(space.seed({{"a", 9}, {"b", 3}, {"c", 2}, {"order", "mn"}}, "hand"));
  EXPECT_EQ(print(space.seeds()[0].point), "a=6 b=3 c=2 order=mn apart=0");
  EXPECT_EQ(space.seeds()[0].origin, "hand");
  EXPECT_TRUE(space.seed({{"a", 4}, {"c", 3}}, "between 2 and 4 the smaller"));
  EXPECT_EQ(print(space.seeds()[1].point), "a=4 b=1 c=2 order=nm apart=0");
  EXPECT_FALSE(space.seed({{"a", 9}, {"b", 3}, {"c", 2}, {"order", "mn"}}, "again"));
  EXPECT_FALSE(space.seed({{"a", 4}, {"b", 4}, {"c", 4}}, "over the registers"));
  EXPECT_EQ(space.seeds().size(), 2u);
  EXPECT_EQ(usage_error([&] { space.seed({{"order", "km"}}, "x"); }), "space `chained`: a seed sets `order=km`; values are nm, mn");
  EXPECT_EQ(usage_error([&] { space.seed({{"tile", 1}}, "x"); }), "space `chained`: a seed sets knob `tile`; there are a, b, c, order, apart");
}

Space with_limit(std::int64_t limit, std::int64_t last) {
  Space space("digest");
  const Knob a = space.knob("a", {1, 2, last});
  space.require("small", [=](std::int64_t x) { return x <= limit; }, a);
  return space;
}

TEST(Space, the_digest_sees_what_constraints_answer_and_not_how_they_are_written) {
  EXPECT_EQ(with_limit(2, 3).digest(), with_limit(2, 3).digest());
  EXPECT_NE(with_limit(2, 3).digest(), with_limit(1, 3).digest());
  EXPECT_NE(with_limit(2, 3).digest(), with_limit(2, 4).digest());
}

TEST(Space, the_schedule_is_a_function_of_the_point) {
  const Space space = chained();
  const Schedule schedule = space.schedule(space.parse("a=4 b=2 c=1 order=nm apart=0"));
  ASSERT_EQ(schedule.directives.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(schedule.directives[0].arguments[3]), 4);
}

TEST(Space, a_space_without_knobs_has_one_point) {
  const Space space("fixed");
  EXPECT_EQ(space.count(), 1u);
  EXPECT_TRUE(space.neighbours(space.unrank(0)).empty());
}

}  // namespace
}  // namespace kiln::schedules
