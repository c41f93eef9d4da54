#include "dsl/dtype.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(DTypeTest, every_name_parses_to_a_type_that_prints_it) {
  for (const char* name : {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"}) {
    const auto type = parse_dtype(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(print(*type), name);
  }
}

TEST(DTypeTest, other_words_are_no_types) {
  for (const char* word : {"", "f", "f31", "float32", "F32", "f32 ", "bf32"}) EXPECT_FALSE(parse_dtype(word)) << word;
}

TEST(DTypeTest, sizes_and_epsilons_are_those_of_the_formats) {
  EXPECT_EQ(kBool.bytes(), 1);
  EXPECT_EQ(parse_dtype("bf16")->bytes(), 2);
  EXPECT_EQ(kFloat64.bytes(), 8);
  EXPECT_EQ(kFloat32.epsilon(), 1.1920928955078125e-07);
  EXPECT_EQ(parse_dtype("bf16")->epsilon(), 0.0078125);
  EXPECT_EQ(parse_dtype("f16")->epsilon(), 0.0009765625);
  EXPECT_EQ(kFloat64.epsilon(), 2.220446049250313e-16);
  EXPECT_EQ(kInt32.epsilon(), 0);
  EXPECT_TRUE(parse_dtype("bf16")->is_float());
  EXPECT_FALSE(kBool.is_float());
}

}  // namespace
}  // namespace kiln
