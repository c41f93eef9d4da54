#include "schedules/edits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "dsl/legality.h"
#include "schedules/devices.h"
#include "tests/support/small_algorithms.h"

namespace kiln::schedules {
namespace {

constexpr const char* kStart =
    "y.split(n, no, ni, 32, GuardWithIf).vectorize(ni, 8)\n"
    "c.compute_at(y, no).vectorize(n, 8)\n"
    "c.update(0).reorder(n, k, m).vectorize(n, 8)\n";

class Edits : public testing::Test {
 protected:
  Algorithm algorithm = tests::product();
  Problem problem = resolve(parse_problem_text("product(m=70, n=96, k=40)"), algorithm);
  Editor editor{algorithm, problem, device_named("x86-64-v3")};

  std::set<std::string> texts(EditKind kind) const {
    std::set<std::string> all;
    for (const Edit& edit : editor.edits(parse_schedule(kStart)))
      if (edit.kind == kind) all.insert(print(edit.schedule));
    return all;
  }
};

std::string with(const std::string& from, const std::string& to) {
  std::string text = kStart;
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(Edits, change_one_factor_at_a_time) {
  const std::set<std::string> factors = texts(EditKind::factor);
  for (const int factor : {8, 16, 24, 48, 64, 128}) EXPECT_TRUE(factors.contains(with("ni, 32,", "ni, " + std::to_string(factor) + ","))) << factor;
  EXPECT_TRUE(factors.contains(with("vectorize(ni, 8)", "vectorize(ni, 4)")));
  EXPECT_FALSE(factors.contains(kStart));
}

TEST_F(Edits, move_a_stage_and_give_an_inlined_one_a_place) {
  const std::set<std::string> places = texts(EditKind::place);
  EXPECT_TRUE(places.contains(with("compute_at(y, no)", "compute_at(y, m)")));
  EXPECT_TRUE(places.contains(with("compute_at(y, no)", "compute_root()")));
  EXPECT_TRUE(places.contains(std::string(kStart) + "B.in().compute_at(c, m).vectorize(d0, 8)\n"));
}

TEST_F(Edits, mark_reorder_and_tile_the_loops_that_there_are) {
  EXPECT_TRUE(texts(EditKind::mark).contains(with("vectorize(ni, 8)\n", "vectorize(ni, 8).parallel(m)\n")));
  EXPECT_TRUE(texts(EditKind::mark).contains(with(".vectorize(ni, 8)", "")));
  EXPECT_TRUE(texts(EditKind::order).contains(with("vectorize(ni, 8)\n", "vectorize(ni, 8).reorder(no, ni)\n")));
  EXPECT_TRUE(texts(EditKind::tile).contains(with("reorder(n, k, m).vectorize(n, 8)", "reorder(n, k, m).vectorize(n, 8).split(k, k_out, k_in, 8).reorder(n, k_in, m, k_out)")));
  EXPECT_TRUE(texts(EditKind::tail).contains(with("GuardWithIf", "Predicate")));
}

TEST_F(Edits, are_the_same_every_time_and_each_is_another_schedule) {
  const std::vector<Edit> first = editor.edits(parse_schedule(kStart)), second = editor.edits(parse_schedule(kStart));
  ASSERT_EQ(first.size(), second.size());
  std::map<std::string, int> count;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(print(first[i].schedule), print(second[i].schedule));
    EXPECT_EQ(parse_schedule(print(first[i].schedule)), first[i].schedule);
    ++count[print(first[i].schedule)];
  }
  EXPECT_FALSE(count.contains(kStart));
}

// A search that drew mostly illegal edits would still be right, and slow.
TEST_F(Edits, are_legal_for_the_most_part) {
  const Legality legality(algorithm, &problem);
  const std::vector<Edit> edits = editor.edits(parse_schedule(kStart));
  const auto legal = std::count_if(edits.begin(), edits.end(), [&](const Edit& edit) { return !legality.find_illegal(edit.schedule); });
  EXPECT_GE(2 * static_cast<std::size_t>(legal), edits.size());
}

TEST_F(Edits, of_what_is_opaque_or_illegal_there_are_none) {
  EXPECT_TRUE(editor.edits(parse_schedule("own_schedule()\n")).empty());
  EXPECT_TRUE(editor.edits(parse_schedule("c.compute_at(y, nowhere)\n")).empty());
}

}  // namespace
}  // namespace kiln::schedules
