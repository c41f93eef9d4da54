// Knobs under conditions, values that follow, and steps that repair what they break: against brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dsl/error.h"
#include "schedules/space.h"

namespace kiln::schedules {
namespace {

// Two stages, each inline or at root; at root each has a tile of its own. How deep both are together is a derived value.
Space staged() {
  Space space("staged");
  const WordKnob a = space.words("place.a", {"inline", "task", "root"});
  const Knob depth_a = space.derive("depth.a", {0, 1, 2}, {a.index}, [=](const Point& p) { return p[a] == "inline" ? 2 : p[a] == "task" ? 1 : 0; });
  Knob rows, columns;
  space.only_when(a, {"root", "task"}, [&] {
    rows = space.knob("rows.a", range(1, 4));
    columns = space.knob("columns.a", range(1, 4));
  });
  space.limit("elements of a tile", 6, [](std::int64_t r, std::int64_t c) { return r * c; }, rows, columns);
  const WordKnob b = space.words("place.b", {"inline", "task", "root"});
  space.require_over("b is no deeper than a", {b.index, depth_a.index},
                     [=](const Point& p) { return p[b] == "inline" || (p[b] == "task" ? 1 : 0) <= p[depth_a]; });
  space.only_when(b, {"root"}, [&] { space.knob("rows.b", {1, 2, 4}); });
  space.knob("apart", {0, 1});
  space.schedule_as([](const Point&) { return Schedule{}; });
  return space;
}

// Every combination of all choices that is a point: in each, knobs out of use are at their first value, and what follows follows.
std::set<Point> points_of(const Space& space) {
  std::vector<std::string> texts = {""};
  for (const KnobDeclaration& knob : space.knobs()) {
    if (knob.is_derived()) continue;
    std::vector<std::string> longer;
    for (const std::string& text : texts) {
      for (const KnobValue& value : knob.values) longer.push_back(text + knob.name + "=" + print(value) + " ");
    }
    texts = std::move(longer);
  }
  std::set<Point> points;
  for (const std::string& text : texts) {
    Point point = space.parse(text);
    if (space.is_valid(point)) points.insert(std::move(point));
  }
  return points;
}

// The choices that are always of use.
std::string form_of(const Point& point) {
  std::string form;
  for (std::size_t k = 0; k < point.knobs().size(); ++k) {
    if (!point.knobs()[k].only_when && !point.knobs()[k].is_derived()) form += print(point.value(k)) + " ";
  }
  return form;
}

// Knobs in use at one point and the other whose values differ.
int distance(const Point& a, const Point& b) {
  int different = 0;
  for (std::size_t k = 0; k < a.knobs().size(); ++k) {
    different += !a.knobs()[k].is_derived() && a.is_active(k) && b.is_active(k) && a.choice()[k] != b.choice()[k];
  }
  return different;
}

TEST(Conditions, a_knob_counts_only_while_it_is_of_use) {
  const Space space = staged();
  EXPECT_EQ(space.count(), points_of(space).size());
  EXPECT_EQ(space.unsatisfiable(), std::nullopt);
}

TEST(Conditions, ranks_are_a_bijection_onto_the_valid_points) {
  const Space space = staged();
  std::set<Point> seen;
  for (std::uint64_t rank = 0; rank < *space.count(); ++rank) {
    const Point point = space.unrank(rank);
    EXPECT_TRUE(space.is_valid(point));
    EXPECT_EQ(space.rank(point), rank);
    seen.insert(point);
  }
  // What follows is not set by unrank alone: compare by text.
  std::set<std::string> texts, expected;
  for (const Point& point : seen) texts.insert(print(point));
  for (const Point& point : points_of(space)) expected.insert(print(point));
  EXPECT_EQ(texts, expected);
}

TEST(Conditions, samples_are_uniform_over_all_points) {
  const Space space = staged();
  const int draws = 40'000;
  std::map<std::string, int> seen;
  Random random(11);
  for (int i = 0; i < draws; ++i) ++seen[print(space.sample(random))];
  const auto points = static_cast<double>(*space.count());
  EXPECT_EQ(static_cast<double>(seen.size()), points);
  double chi_square = 0;
  for (const auto& [text, times] : seen) chi_square += (times - draws / points) * (times - draws / points) / (draws / points);
  EXPECT_LT(chi_square, points - 1 + 5 * std::sqrt(2 * (points - 1)));
}

TEST(Conditions, samples_by_form_are_uniform_over_what_is_always_of_use_and_then_over_the_rest) {
  const Space space = staged();
  const int draws = 40'000;
  std::map<std::string, std::map<std::string, int>> seen;  // by the places and the knob apart, then by the tiles
  Random random(13);
  for (int i = 0; i < draws; ++i) {
    const Point point = space.sample_by_form(random);
    ASSERT_TRUE(space.is_valid(point));
    ++seen[form_of(point)][print(point)];
  }
  std::map<std::string, std::set<std::string>> all;
  for (const Point& point : points_of(space)) all[form_of(point)].insert(print(point));
  ASSERT_EQ(seen.size(), all.size());
  double chi_square = 0;
  const double each = draws / static_cast<double>(all.size());
  for (const auto& [form, points] : all) {
    double here = 0;
    EXPECT_EQ(seen[form].size(), points.size());
    for (const auto& [text, times] : seen[form]) here += times;
    chi_square += (here - each) * (here - each) / each;
    for (const auto& [text, times] : seen[form]) EXPECT_NEAR(times, here / static_cast<double>(points.size()), 6 * std::sqrt(each)) << text;
  }
  const auto forms = static_cast<double>(all.size());
  EXPECT_LT(chi_square, forms - 1 + 5 * std::sqrt(2 * (forms - 1)));
}

TEST(Conditions, a_point_prints_what_is_of_use_and_parses_back) {
  const Space space = staged();
  for (const Point& point : points_of(space)) EXPECT_EQ(space.parse(print(point)), point) << print(point);
  const Point inlined = space.parse("place.a=inline place.b=task apart=0");
  EXPECT_EQ(print(inlined), "place.a=inline place.b=task apart=0");
  EXPECT_TRUE(space.is_valid(inlined));
}

TEST(Conditions, a_knob_set_while_it_is_of_no_use_is_named) {
  const Space space = staged();
  EXPECT_EQ(space.first_violated(space.parse("place.a=inline rows.a=3 place.b=inline apart=0")),
            "knob `rows.a` is of no use while `place.a=inline`, so it must be 1");
  try {
    space.parse("place.a=root columns.a=1 place.b=inline apart=0");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "point of space `staged`: knob `rows.a` is not set; values are 1, 2, 3, 4");
  }
}

TEST(Conditions, neighbours_take_with_them_what_they_put_out_of_use) {
  const Space space = staged();
  const Point from = space.parse("place.a=root rows.a=3 columns.a=2 place.b=inline apart=0");
  const std::vector<Point> near = space.neighbours(from);
  const auto has = [&](const std::string& text) { return std::any_of(near.begin(), near.end(), [&](const Point& point) { return print(point) == text; }); };
  EXPECT_TRUE(has("place.a=inline place.b=inline apart=0"));
  EXPECT_TRUE(has("place.a=task rows.a=3 columns.a=2 place.b=inline apart=0"));
  for (const Point& point : near) EXPECT_TRUE(space.is_valid(point)) << print(point);
}

TEST(Conditions, a_step_changes_as_few_other_knobs_as_any_point_with_that_value) {
  const Space space = staged();
  const std::set<Point> points = points_of(space);
  for (const Point& from : points) {
    std::map<std::pair<std::size_t, std::uint16_t>, int> nearest;
    for (const Point& other : points) {
      for (std::size_t k = 0; k < other.choice().size(); ++k) {
        if (other.knobs()[k].is_derived() || !from.is_active(k) || !other.is_active(k) || other.choice()[k] == from.choice()[k]) continue;
        const auto [known, is_new] = nearest.emplace(std::pair(k, other.choice()[k]), distance(from, other));
        if (!is_new) known->second = std::min(known->second, distance(from, other));
      }
    }
    std::map<int, int> found, expected;
    for (const Point& step : space.steps(from)) {
      ASSERT_TRUE(points.contains(step)) << print(from) << " -> " << print(step);
      ++found[distance(from, step)];
    }
    for (const auto& [change, changes] : nearest) ++expected[changes];
    EXPECT_EQ(found, expected) << print(from);
  }
}

TEST(Conditions, a_condition_whose_knobs_have_no_values_removes_the_word_and_is_named_when_it_was_the_last) {
  for (const bool has_other : {true, false}) {
    Space space("empty");
    const WordKnob place = space.words("place", has_other ? std::vector<std::string>{"inline", "root"} : std::vector<std::string>{"root"});
    Knob rows;
    space.only_when(place, {"root"}, [&] { rows = space.knob("rows", {2, 4}); });
    space.limit("rows there are", 1, [](std::int64_t r) { return r; }, rows);
    if (has_other) {
      EXPECT_EQ(space.unsatisfiable(), std::nullopt);
      EXPECT_EQ(space.count(), 1u);
      EXPECT_EQ(print(space.unrank(0)), "place=inline");
    } else {
      EXPECT_EQ(space.count(), 0u);
      EXPECT_EQ(space.unsatisfiable(), "space `empty` has no points: knob `rows` has no value left; the last was removed by: rows there are");
    }
  }
}

TEST(Conditions, a_condition_on_a_word_that_does_not_exist_is_refused) {
  Space space("s");
  const WordKnob place = space.words("place", {"inline", "root"});
  try {
    space.only_when(place, {"tile"}, [] {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "space `s`: a condition asks for `place=tile`; values are inline, root");
  }
}

// Six stages, each inline or at root with a tile of 552 forms.
TEST(Conditions, many_stages_with_knobs_of_their_own_are_counted_exactly_where_a_closed_form_is_known) {
  Space space("stages");
  std::uint64_t expected = 1;
  for (int s = 0; s < 6; ++s) {
    const std::string suffix = "." + std::to_string(s);
    const WordKnob place = space.words("place" + suffix, {"inline", "root"});
    space.only_when(place, {"root"}, [&] {
      const Knob rows = space.knob("rows" + suffix, range(1, 24)), columns = space.knob("columns" + suffix, range(1, 24));
      space.require("rows differ from columns", [](std::int64_t r, std::int64_t c) { return r != c; }, rows, columns);
    });
    expected *= 1 + 24 * 23;
  }
  EXPECT_EQ(space.count(), expected);  // 2.9e16: more than a double tells apart
  Random random(3);
  int at_root = 0;
  std::map<KnobValue, int> rows;  // of one stage: 24 values, equally many points each
  for (int i = 0; i < 4800; ++i) {
    const Point point = space.sample(random);
    EXPECT_TRUE(space.is_valid(point));
    at_root += print(point).find("place.3=root") != std::string::npos;
    if (point.is_active(10)) ++rows[point.value(10)];
    EXPECT_EQ(space.unrank(space.rank(point)), point);
  }
  EXPECT_NEAR(at_root, 4800.0 * 552 / 553, 15);
  EXPECT_EQ(space.knobs()[10].name, "rows.3");
  EXPECT_EQ(rows.size(), 24u);
  double chi_square = 0;
  for (const auto& [value, times] : rows) chi_square += (times - at_root / 24.0) * (times - at_root / 24.0) / (at_root / 24.0);
  EXPECT_LT(chi_square, 23 + 5 * std::sqrt(2 * 23.0));
}

}  // namespace
}  // namespace kiln::schedules
