#include "autotune/search/mixed_search.h"

#include <gtest/gtest.h>

#include <set>

#include "dsl/error.h"
#include "schedules/devices.h"
#include "schedules/sketch.h"
#include "schedules/spaces.h"
#include "tests/support/small_algorithms.h"

namespace kiln::autotune {
namespace {

// A space of `count` points, each a split of its own.
class FewPoints : public Proposer {
 public:
  FewPoints(std::string name, int count) : name_(std::move(name)), count_(count) {}

  const std::string& space() const override { return name_; }
  std::optional<Suggestion> propose() override {
    if (proposed_ == count_) return std::nullopt;
    const int factor = 8 * ++proposed_;
    return Suggestion{parse_schedule("y.split(n, no, ni, " + std::to_string(factor) + ", GuardWithIf)\n"), std::to_string(factor), Phase::random};
  }
  void observe(const std::string& point, Outcome outcome) override {
    if (point == falls_over_at) throw AlgorithmError("the space fell over");
    observed[point] = outcome;
  }
  void resume(const std::vector<PastSuggestion>&) override {}

  std::map<std::string, Outcome> observed;
  std::string falls_over_at;

 private:
  std::string name_;
  int count_;
  int proposed_ = 0;
};

class MixedSearchTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kExpected = 40;  // of which twelve points come before more than a few edits

  MixedSearch search(std::unique_ptr<Proposer> points) const {
    return {std::move(points), EditSearch(algorithm, problem, schedules::device_named("x86-64-v3"), 1), kExpected};
  }
  MixedSearch search_of(std::string space, int points) const { return search(std::make_unique<FewPoints>(std::move(space), points)); }

  // Proposes until `count` ideas came or none does, and gives all the same outcome.
  std::string kinds(MixedSearch& mixed, int count, Outcome outcome) const {
    std::string kinds;
    std::set<Digest> known;
    for (int i = 0; i < count; ++i) {
      const auto idea = mixed.propose([&](const Digest& schedule) { return known.contains(schedule); });
      if (!idea) break;
      known.insert(digest(idea->schedule));
      kinds += idea->suggestion ? 'p' : 'e';
      mixed.observe(*idea, outcome);
    }
    return kinds;
  }

  std::shared_ptr<const Algorithm> algorithm = std::make_shared<const Algorithm>(tests::product());
  Problem problem = resolve(parse_problem_text("product(m=70, n=96, k=40)"), *algorithm);
  Schedule start = parse_schedule("y.split(n, no, ni, 32, GuardWithIf).vectorize(ni, 8)\nc.compute_at(y, no).vectorize(n, 8)\n");
};

TEST_F(MixedSearchTest, proposes_mostly_edits_while_the_best_is_no_point) {
  MixedSearch mixed = search_of(std::string(schedules::kSketch), 100);
  mixed.learn(start, 0.9, false);
  EXPECT_EQ(kinds(mixed, 8, 2), "peeepeee");
}

TEST_F(MixedSearchTest, all_but_gives_up_points_when_none_of_sixteen_comes_near) {
  MixedSearch mixed = search_of(std::string(schedules::kSketch), 1000);
  mixed.learn(start, 0.9, false);
  kinds(mixed, 64, std::nullopt);
  EXPECT_EQ(kinds(mixed, 16, std::nullopt), "eeeeeeeeepeeeeee");
}

TEST_F(MixedSearchTest, proposes_mostly_points_while_the_best_is_one_and_more_edits_when_some_were_seen) {
  MixedSearch mixed = search_of(std::string(schedules::kSketch), 100);
  mixed.learn(start, 0.9, true);
  EXPECT_EQ(kinds(mixed, 8, std::nullopt), "pppppppe");
  EXPECT_EQ(kinds(mixed, 8, std::nullopt), "pppppepp");
  EXPECT_EQ(kinds(mixed, 8, std::nullopt), "eppepepp");
}

TEST_F(MixedSearchTest, an_edit_that_wins_brings_more_edits) {
  MixedSearch mixed = search_of(std::string(schedules::kSketch), 100);
  mixed.learn(start, 0.9, true);
  EXPECT_EQ(kinds(mixed, 7, std::nullopt), "ppppppp");
  EXPECT_EQ(kinds(mixed, 1, 0.5), "e");
  EXPECT_EQ(kinds(mixed, 4, std::nullopt), "peee");
}

TEST_F(MixedSearchTest, edits_nothing_where_someone_wrote_a_space) {
  MixedSearch mixed = search_of("matmul", 2);
  mixed.learn(start, 0.9, false);
  EXPECT_EQ(kinds(mixed, 8, std::nullopt), "pp");
}

TEST_F(MixedSearchTest, goes_on_with_one_when_the_other_is_at_its_end) {
  MixedSearch few = search_of(std::string(schedules::kSketch), 2), none = search(nullptr), unknown = search_of(std::string(schedules::kSketch), 2);
  few.learn(start, 0.9, true);
  EXPECT_EQ(kinds(few, 6, std::nullopt), "ppeeee");
  none.learn(start, 0.9, false);
  EXPECT_EQ(kinds(none, 4, std::nullopt), "eeee");
  EXPECT_EQ(kinds(unknown, 8, std::nullopt), "pp") << "there is nothing to edit";
}

TEST_F(MixedSearchTest, tells_the_space_what_became_of_its_points_and_passes_on_its_errors) {
  auto points = std::make_unique<FewPoints>(std::string(schedules::kSketch), 3);
  points->falls_over_at = "24";
  const FewPoints& few = *points;
  MixedSearch mixed = search(std::move(points));
  mixed.learn(start, 0.9, true);
  EXPECT_EQ(kinds(mixed, 2, 0.5), "pp");
  EXPECT_EQ(few.observed, (std::map<std::string, Outcome>{{"8", 0.5}, {"16", 0.5}}));
  EXPECT_THROW(kinds(mixed, 1, 0.5), AlgorithmError);
  mixed.drop_points();
  EXPECT_EQ(mixed.points(), nullptr);
  EXPECT_EQ(kinds(mixed, 2, std::nullopt), "ee") << "of the points before";
}

}  // namespace
}  // namespace kiln::autotune
