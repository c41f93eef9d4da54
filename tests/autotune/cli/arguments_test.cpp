#include "autotune/cli/arguments.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "dsl/error.h"
#include "tests/db/sample_store.h"

namespace kiln::autotune::cli {
namespace {

using db::message_of;

std::string duration_error(const std::string& text) {
  return message_of<UsageError>([&] { parse_duration("--for", text); });
}

TEST(Arguments, durations_add_up_their_parts) {
  EXPECT_EQ(parse_duration("--for", "90s"), 90);
  EXPECT_EQ(parse_duration("--for", "10m"), 600);
  EXPECT_EQ(parse_duration("--for", "8h"), 8 * 3600);
  EXPECT_EQ(parse_duration("--for", "1h30m"), 5400);
  EXPECT_EQ(parse_duration("--for", "1d1h1m1s"), 86400 + 3600 + 61);
  EXPECT_EQ(parse_duration("--for", "1.5h"), 5400);
  EXPECT_EQ(parse_duration("--horizon", "30d"), 30 * 86400);
}

TEST(Arguments, bad_durations_say_what_is_wrong) {
  const std::string form = "; a duration is written as 90s, 10m, 8h or 1h30m";
  EXPECT_EQ(duration_error(""), "--for '': there is nothing" + form);
  EXPECT_EQ(duration_error("90"), "--for 90: `90` has no unit" + form);
  EXPECT_EQ(duration_error("8x"), "--for 8x: `x` is no unit (d, h, m, s are)" + form);
  EXPECT_EQ(duration_error("h"), "--for h: a number is missing" + form);
  EXPECT_EQ(duration_error("30m1h"), "--for 30m1h: `h` comes again or too late" + form);
  EXPECT_EQ(duration_error("1h1h"), "--for 1h1h: `h` comes again or too late" + form);
  EXPECT_EQ(duration_error("0s"), "--for 0s: that is no time at all" + form);
  EXPECT_EQ(duration_error("1.2.3h"), "--for 1.2.3h: `1.2.3` is no number" + form);
  EXPECT_EQ(duration_error("-5m"), "--for -5m: a number is missing" + form);
}

TEST(Arguments, printed_durations_parse_back) {
  for (const double seconds : {1.0, 90.0, 119.0, 120.0, 600.0, 5400.0, 86400.0, 90061.0, 30 * 86400.0})
    EXPECT_EQ(parse_duration("--for", print_duration(seconds)), seconds) << print_duration(seconds);
  EXPECT_EQ(print_duration(5400), "1h30m");
  EXPECT_EQ(print_duration(90), "90s");
}

class LocalTime : public ::testing::Test {
 protected:
  void SetUp() override { zone("UTC"); }
  void TearDown() override { zone("UTC"); }
  static void zone(const char* name) {
    setenv("TZ", name, 1);
    tzset();
  }
};

constexpr std::time_t kMay1st2026_22h = 1777672800;  // 2026-05-01 22:00:00 UTC

TEST_F(LocalTime, until_means_the_next_such_moment) {
  EXPECT_EQ(parse_until("--until", "22:30", kMay1st2026_22h), 1800);
  EXPECT_EQ(parse_until("--until", "07:00", kMay1st2026_22h), 9 * 3600);
  EXPECT_EQ(parse_until("--until", "22:00:05", kMay1st2026_22h), 5);
  EXPECT_EQ(parse_until("--until", "22:00", kMay1st2026_22h), 86400);
}

TEST_F(LocalTime, until_follows_the_local_zone_and_its_short_days) {
  zone("EST5");
  EXPECT_EQ(parse_until("--until", "17:30", kMay1st2026_22h), 1800);
  zone("CET-1CEST,M3.5.0,M10.5.0/3");
  const std::time_t before_spring = 1774731600;  // 2026-03-28 22:00 in Berlin; the next night has one hour less
  EXPECT_EQ(parse_until("--until", "07:00", before_spring), 8 * 3600);
}

TEST_F(LocalTime, a_budget_has_one_end) {
  EXPECT_EQ(parse_budget("", "", kMay1st2026_22h), std::nullopt);
  EXPECT_EQ(parse_budget("90s", "", kMay1st2026_22h), 90);
  EXPECT_EQ(parse_budget("", "22:30", kMay1st2026_22h), 1800);
  EXPECT_EQ(message_of<UsageError>([] { parse_budget("90s", "22:30", kMay1st2026_22h); }), "--for and --until exclude each other");
}

TEST_F(LocalTime, what_is_no_time_of_day_is_refused) {
  for (const char* text : {"", "7", "25:00", "07:60", "07:00x", "07:00:99", "seven", "-1:00"})
    EXPECT_EQ(message_of<UsageError>([&] { parse_until("--until", text, kMay1st2026_22h); }),
              std::string("--until ") + (*text == '\0' ? "''" : text) + ": a time of day is written as 07:00 or 23:30:00, local time");
}

TEST(Arguments, whole_numbers_have_their_bounds) {
  EXPECT_EQ(parse_whole("--threads", "8", 1), 8);
  EXPECT_EQ(message_of<UsageError>([] { parse_whole("--threads", "two", 1); }), "--threads two: expected a whole number");
  EXPECT_EQ(message_of<UsageError>([] { parse_whole("--threads", "", 1); }), "--threads '': expected a whole number");
  EXPECT_EQ(message_of<UsageError>([] { parse_whole("--threads", "2.5", 1); }), "--threads 2.5: expected a whole number");
  EXPECT_EQ(message_of<UsageError>([] { parse_whole("--threads", "0", 1); }), "--threads 0: must be at least 1");
  EXPECT_EQ(message_of<UsageError>([] { parse_whole("--threads", "5000", 1, 4096); }), "--threads 5000: must be at most 4096");
}

TEST(Arguments, shards_count_from_one) {
  EXPECT_EQ(parse_shard("--shard", "2/4").index, 1);
  EXPECT_EQ(parse_shard("--shard", "2/4").count, 4);
  EXPECT_EQ(message_of<UsageError>([] { parse_shard("--shard", "3"); }), "--shard 3: a shard is written as 1/4, the first of four");
  EXPECT_EQ(message_of<UsageError>([] { parse_shard("--shard", "5/4"); }), "--shard 5/4: there is no shard 5 of 4");
  EXPECT_EQ(message_of<UsageError>([] { parse_shard("--shard", "0/4"); }), "--shard 0: must be at least 1");
}

}  // namespace
}  // namespace kiln::autotune::cli
