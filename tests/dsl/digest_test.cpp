#include "dsl/digest.h"

#include <gtest/gtest.h>

#include "dsl/error.h"

namespace kiln {
namespace {

// The examples of FIPS 180-4.
TEST(DigestTest, content_digests_are_sha_256) {
  EXPECT_EQ(content_digest("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(content_digest("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(DigestTest, a_kind_is_a_first_line_of_the_text) {
  EXPECT_EQ(digest("schedule", "x"), content_digest("kiln-schedule-1\nx"));
  EXPECT_NE(digest("schedule", "x"), digest("problem", "x"));
}

TEST(DigestTest, what_is_printed_is_read_again) {
  EXPECT_EQ(parse_digest(content_digest("abc").hex()), content_digest("abc"));
  try {
    parse_digest("ba7816");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "`ba7816` is no digest of 64 hexadecimal digits");
  }
}

TEST(DigestTest, the_short_form_is_the_first_twelve_digits) { EXPECT_EQ(content_digest("abc").short_hex(), "ba7816bf8f01"); }

}  // namespace
}  // namespace kiln
