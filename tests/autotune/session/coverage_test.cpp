#include "autotune/coverage.h"

#include <gtest/gtest.h>

namespace kiln::autotune {
namespace {

TEST(BucketIntervals, cover_everything_from_one_to_twice_the_largest_without_overlap) {
  const std::vector<std::vector<std::int64_t>> cases{{1}, {5}, {1, 2}, {1, 256, 1536}, {7, 8, 9}, {3, 1000000}};
  for (const auto& extents : cases) {
    const std::vector<ServedInterval> intervals = bucket_intervals(extents);
    ASSERT_EQ(intervals.size(), extents.size());
    EXPECT_EQ(intervals.front().least, 1);
    EXPECT_EQ(intervals.back().most, 2 * extents.back());
    for (std::size_t i = 0; i < extents.size(); ++i) {
      EXPECT_LE(intervals[i].least, extents[i]);
      EXPECT_GE(intervals[i].most, extents[i]);
      if (i > 0) {
        EXPECT_EQ(intervals[i].least, intervals[i - 1].most + 1);
      }
    }
  }
}

TEST(BucketIntervals, part_neighbours_at_their_geometric_mean) {
  const std::vector<ServedInterval> intervals = bucket_intervals({1, 256, 1536});
  EXPECT_EQ(intervals[0].most, 16);
  EXPECT_EQ(intervals[1].most, 627);
}

TEST(BucketIntervals, are_cut_to_what_a_gpus_kernels_take) {
  const auto cut = [](std::int64_t multiple, std::int64_t at_most, std::int64_t exactly) {
    generators::cuda::LaunchGuard guard;
    guard.multiple = multiple;
    guard.at_most = at_most;
    guard.exactly = exactly;
    const auto taken = within({3, 30}, guard);
    return taken ? std::vector<std::int64_t>{taken->least, taken->most} : std::vector<std::int64_t>{};
  };
  EXPECT_EQ(cut(1, 0, 0), (std::vector<std::int64_t>{3, 30}));
  EXPECT_EQ(cut(4, 0, 0), (std::vector<std::int64_t>{4, 28}));
  EXPECT_EQ(cut(4, 10, 0), (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(cut(32, 0, 0), (std::vector<std::int64_t>{}));
  EXPECT_EQ(cut(1, 0, 16), (std::vector<std::int64_t>{}));
}

std::shared_ptr<const Algorithm> product() {
  Algorithm algorithm;
  algorithm.arguments.resize(1);
  algorithm.arguments[0].name = "C";
  algorithm.arguments[0].rank = 2;
  algorithm.arguments[0].is_output = true;
  algorithm.symbols = {{"m", {{"A", 1}, {"C", 1}}}, {"n", {{"B", 0}, {"C", 0}}}, {"k", {{"A", 0}, {"B", 1}}}};
  return std::make_shared<const Algorithm>(algorithm);
}

WorkItem item_of(const std::shared_ptr<const Algorithm>& algorithm, std::int64_t m, std::int64_t n, std::int64_t k) {
  WorkItem item;
  item.algorithm = algorithm;
  item.problem.extents = {{"m", m}, {"n", n}, {"k", k}};
  return item;
}

TEST(ServedGroups, part_problems_by_the_rows_where_more_than_one_extent_differs) {
  const auto algorithm = product();
  const std::vector<WorkItem> all{item_of(algorithm, 2, 96, 32), item_of(algorithm, 1, 96, 32), item_of(algorithm, 1, 32, 96)};
  const std::vector<const WorkItem*> items{&all[0], &all[1], &all[2]};
  const std::vector<ServedGroup> alone = served_groups(items, false), beside_generic = served_groups(items, true);
  ASSERT_EQ(alone.size(), 2U);
  EXPECT_EQ(alone[0].symbol, "m");
  EXPECT_EQ(alone[0].items, (std::vector<const WorkItem*>{&all[1], &all[0]})) << "by the extent";
  EXPECT_EQ(alone[1].items, (std::vector<const WorkItem*>{&all[2]}));
  ASSERT_EQ(beside_generic.size(), 1U) << "the generic variant serves what is near one problem alone";
  EXPECT_EQ(beside_generic[0].items.size(), 2U);
}

TEST(ServedGroups, take_the_one_extent_that_differs) {
  const auto algorithm = product();
  const std::vector<WorkItem> all{item_of(algorithm, 8, 64, 32), item_of(algorithm, 8, 32, 32)};
  const std::vector<ServedGroup> groups = served_groups({&all[0], &all[1]}, true);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].symbol, "n");
}

Algorithm stencil() {
  Algorithm algorithm;
  algorithm.generator = "stencil";
  algorithm.symbols = {{"in.0", {{"in", 0}}}, {"in.1", {{"in", 1}}}, {"out.0", {{"out", 0}}}, {"out.1", {{"out", 1}}}};
  algorithm.symbol_order = {"in.0", "in.1", "out.0", "out.1"};
  return algorithm;
}

TEST(GenericCases, hold_extents_one_a_prime_and_both_sides_of_a_tile) {
  Algorithm algorithm;
  algorithm.symbols = {{"m", {{"A", 1}, {"C", 1}}}, {"n", {{"B", 0}, {"C", 0}}}, {"k", {{"A", 0}, {"B", 1}}}};
  Problem problem;
  problem.extents = {{"m", 1024}, {"n", 1024}, {"k", 1024}};
  std::vector<std::int64_t> seen;
  for (const Problem& one : generic_cases(problem, algorithm)) {
    EXPECT_EQ(one.extents.at("m"), one.extents.at("k"));
    seen.push_back(one.extents.at("m"));
  }
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 37, 63, 65}));
}

TEST(GenericCases, keep_to_what_the_author_requires_of_an_extent) {
  Algorithm algorithm;
  algorithm.arguments.resize(1);
  algorithm.arguments[0].name = "A";
  algorithm.arguments[0].rank = 2;
  algorithm.symbols = {{"m", {{"A", 1}}}, {"k", {{"A", 0}}}};
  algorithm.requirements = {parse_expression("(eq bool (mod i32 (extent i32 A.extent.0) 2) 0)")};
  Problem problem;
  problem.extents = {{"m", 1024}, {"k", 512}};
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  for (const Problem& one : generic_cases(problem, algorithm)) seen.emplace_back(one.extents.at("m"), one.extents.at("k"));
  EXPECT_EQ(seen, (std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 512}, {37, 36}, {63, 62}, {65, 64}}));
}

TEST(GenericCases, keep_the_halo_between_an_input_and_an_output) {
  Problem problem;
  problem.extents = {{"in.0", 1026}, {"in.1", 514}, {"out.0", 1024}, {"out.1", 512}};
  bool found = false;
  for (const Problem& one : generic_cases(problem, stencil()))
    found |= one.extents.at("out.0") == 37 && one.extents.at("in.0") == 39 && one.extents.at("out.1") == 37 && one.extents.at("in.1") == 39;
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace kiln::autotune
