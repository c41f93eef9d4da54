#include "generators/cuda/resources/banks.h"

#include <gtest/gtest.h>

namespace kiln::generators::cuda::resources {
namespace {

TEST(Banks, different_words_of_a_bank_take_turns) {
  EXPECT_EQ(bank_rounds({0, 1, 2, 31}), 1);
  EXPECT_EQ(bank_rounds({0, 32, 64}), 3);
  EXPECT_EQ(bank_rounds({5, 5, 5, 37}), 2);  // lanes that ask for the same word are served together
  EXPECT_EQ(bank_rounds({}), 0);
}

TEST(Banks, rows_are_read_without_conflict_however_columns_are) {
  for (const SharedMatrix& matrix : {SharedMatrix{32, 32, 32}, SharedMatrix{32, 32, 33}, SharedMatrix{32, 32, 32, true}})
    EXPECT_EQ(rounds_along_rows(matrix), 1);
}

TEST(Banks, a_pitch_shares_as_many_banks_as_it_has_in_common_with_them) {
  for (int pitch = 32; pitch <= 64; ++pitch) {
    int common = pitch;
    for (int rest = 32; rest != 0;) {
      const int next = common % rest;
      common = rest;
      rest = next;
    }
    EXPECT_EQ(rounds_down_columns({32, 32, pitch}), common) << pitch;
  }
}

TEST(Banks, fewer_rows_conflict_less) {
  EXPECT_EQ(rounds_down_columns({8, 32, 32}), 8);
  EXPECT_EQ(rounds_down_columns({16, 64, 64, true}), 1);
  EXPECT_DOUBLE_EQ((SharedMatrix{32, 64, 66}).padding(), 66.0 / 64 - 1);
}

}  // namespace
}  // namespace kiln::generators::cuda::resources
