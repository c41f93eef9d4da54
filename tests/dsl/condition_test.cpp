#include "dsl/condition.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(ConditionTest, prints_what_it_parses) {
  for (const char* text : {"C.dim(0).extent() >= 64", "in_1.dim(3).extent() % 8 == 0 && C.dim(1).extent() != 7 && C.dim(0).extent() < 1"}) {
    const auto condition = parse_condition(text);
    ASSERT_TRUE(condition) << text;
    EXPECT_EQ(print(*condition), text);
  }
}

TEST(ConditionTest, what_is_no_condition_is_none) {
  for (const char* text : {"", "C", "C.dim(0).extent()", "C.dim(0).extent() >= 64 &", "C.dim(0).extent() >= 64 ||", "C.dim(-1).extent() >= 4", "C.dim(0).extent() % 0 == 0",
                           "C.dim(0).extent() >= -4", "C.dim(0).extent() >= 4294967296"})
    EXPECT_FALSE(parse_condition(text)) << text;
}

TEST(ConditionTest, clauses_compare_an_extent_or_its_remainder) {
  const auto one = [](const char* text) { return clauses_of(text).front(); };
  EXPECT_TRUE(holds(one("C.dim(0).extent() >= 64"), 64));
  EXPECT_FALSE(holds(one("C.dim(0).extent() >= 64"), 63));
  EXPECT_TRUE(holds(one("C.dim(0).extent() <= 64"), 64));
  EXPECT_FALSE(holds(one("C.dim(0).extent() < 64"), 64));
  EXPECT_FALSE(holds(one("C.dim(0).extent() > 64"), 64));
  EXPECT_FALSE(holds(one("C.dim(0).extent() != 64"), 64));
  EXPECT_TRUE(holds(one("C.dim(0).extent() % 8 == 3"), 67));
  EXPECT_FALSE(holds(one("C.dim(0).extent() % 8 == 3"), 64));
}

}  // namespace
}  // namespace kiln
