#include "dsl/directive.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kiln {
namespace {

TEST(DirectiveTest, the_table_is_sorted_and_complete) {
  const auto& table = directives();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const DirectiveSpec& spec : table) {
    EXPECT_EQ(find_directive(spec.name), &spec);
    EXPECT_FALSE(spec.sentence.empty()) << spec.name;
    EXPECT_FALSE(spec.signatures.empty()) << spec.name;
    EXPECT_EQ(spec.rewrite == nullptr, spec.is_opaque) << spec.name;
    EXPECT_EQ(spec.refuse_alone != nullptr, spec.is_opaque) << spec.name;
  }
  EXPECT_EQ(find_directive("gpu_tile"), nullptr);
  EXPECT_EQ(find_directive(""), nullptr);
}

TEST(DirectiveTest, each_says_what_it_does_to_the_numbers) {
  EXPECT_EQ(find_directive("split")->numerics, NumericsEffect::none);
  EXPECT_EQ(find_directive("reorder")->numerics, NumericsEffect::reorders_reduction);
  EXPECT_EQ(find_directive("tile")->numerics, NumericsEffect::reorders_reduction);
  EXPECT_EQ(find_directive("vectorize")->numerics, NumericsEffect::partial_sums);
  EXPECT_EQ(find_directive("rfactor")->numerics, NumericsEffect::partial_sums);
  EXPECT_EQ(find_directive("parallel")->numerics, NumericsEffect::any_order);
  for (const char* name : {"compute_with", "fold_storage", "hoist_storage", "partition", "prefetch", "specialize"})
    EXPECT_EQ(find_directive(name)->numerics, NumericsEffect::none) << name;
  EXPECT_EQ(find_directive("own_schedule")->numerics, NumericsEffect::unknown);
  EXPECT_EQ(print(NumericsEffect::reorders_reduction), "reorders_reduction");
}

TEST(DirectiveTest, arguments_choose_the_signature) {
  const DirectiveSpec& tile = *find_directive("tile");
  const std::vector<DirectiveArgument> shorter = {"x", "y", "xi", "yi", 8, 4}, tailed = {"x", "y", "xi", "yi", 8, 4, "RoundUp"};
  EXPECT_EQ(print(tile, *match_signature(tile, shorter)), "tile(x, y, xi, yi, xfactor, yfactor)");
  EXPECT_EQ(print(tile, *match_signature(tile, tailed)), "tile(x, y, xi, yi, xfactor, yfactor, tail)");
  EXPECT_EQ(match_signature(tile, {"x"}), nullptr);
}

TEST(DirectiveTest, the_last_arguments_may_come_again) {
  const DirectiveSpec &reorder = *find_directive("reorder"), &rfactor = *find_directive("rfactor");
  EXPECT_NE(match_signature(reorder, {"x", "y", "z"}), nullptr);
  EXPECT_NE(match_signature(rfactor, {"ko", "u", "j", "v"}), nullptr);
  EXPECT_EQ(match_signature(rfactor, {"ko", "u", "j"}), nullptr);
  EXPECT_EQ(match_signature(rfactor, {"ko", "u", "j", 4}), nullptr);
}

TEST(DirectiveTest, the_nearest_word_differs_in_a_third_of_its_letters_at_most) {
  const std::vector<std::string> words = {"split", "vectorize", "unroll"};
  EXPECT_EQ(nearest("vectorise", words), "vectorize");
  EXPECT_EQ(nearest("spilt", words), "");
  EXPECT_EQ(nearest("splits", words), "split");
  EXPECT_EQ(nearest("warps", words), "");
}

}  // namespace
}  // namespace kiln
