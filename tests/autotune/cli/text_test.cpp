#include <gtest/gtest.h>

#include "autotune/cli/progress.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"

namespace kiln::autotune::cli {
namespace {

TEST(Units, times_have_three_digits_and_a_unit) {
  EXPECT_EQ(print_ns(0.4), "0 ns");
  EXPECT_EQ(print_ns(812), "812 ns");
  EXPECT_EQ(print_ns(999.6), "1.00 µs");
  EXPECT_EQ(print_ns(1234), "1.23 µs");
  EXPECT_EQ(print_ns(9996), "10.0 µs");
  EXPECT_EQ(print_ns(45.6e6), "45.6 ms");
  EXPECT_EQ(print_ns(2.31e9), "2.31 s");
  EXPECT_EQ(print_ns(210e9), "3.5 min");
  EXPECT_EQ(print_ns(7560e9), "2.1 h");
}

TEST(Units, bytes_counts_and_shares) {
  EXPECT_EQ(print_bytes(640), "640 B");
  EXPECT_EQ(print_bytes(24 * 1024), "24 KiB");
  EXPECT_EQ(print_bytes(1.5 * 1024 * 1024), "1.5 MiB");
  EXPECT_EQ(print_count(7), "7");
  EXPECT_EQ(print_count(28001), "28,001");
  EXPECT_EQ(print_count(-1234567), "-1,234,567");
  EXPECT_EQ(print_count(-123), "-123");
  EXPECT_EQ(print_percent(0.008), "0.8 %");
  EXPECT_EQ(print_percent(0.123), "12 %");
}

TEST(Units, a_speedup_carries_its_interval) { EXPECT_EQ(print_speedup(1.43, 1.41, 1.45), "1.43x (1.41–1.45)"); }

TEST(Units, stored_times_lose_what_nobody_reads) {
  EXPECT_EQ(print_time("2026-01-31T05:06:07.089Z"), "2026-01-31 05:06:07");
  EXPECT_EQ(print_time("soon"), "soon");
}

TEST(TextTable, columns_line_up_also_beside_wide_letters) {
  TextTable table;
  table.column("what").column("time", Align::right).column("note");
  table.row({"a", "1.23 µs", "first"});
  table.row({"longer", "45 ns", ""});
  EXPECT_EQ(table.print(),
            "what       time  note\n"
            "a       1.23 µs  first\n"
            "longer    45 ns\n");
  EXPECT_EQ(table.print(true).substr(0, 8), "\033[1mwhat");
}

TEST(TextTable, indented_text_says_how_much_was_left_out) {
  EXPECT_EQ(indented("a\nb\nc", "  "), "  a\n  b\n  c\n");
  EXPECT_EQ(indented("a\nb\nc", "  ", 1), "  a\n  … 2 more lines\n");
  EXPECT_EQ(indented("a\nb", "  ", 1), "  a\n  … 1 more line\n");
}

Step step() {
  Step step;
  step.phase = "measuring";
  step.problem = "matmul(m=1, n=2, k=3)";
  step.done = 5;
  step.total = 10;
  step.tried = 42;
  step.best_ratio = 0.5;
  step.noise = 0.004;
  step.rejected = {{"spills", 3}, {"wrong_result", 1}};
  step.seconds_left = 3725;
  return step;
}

TEST(Progress, the_bar_shows_phase_best_noise_time_and_losses) {
  EXPECT_EQ(draw_bar(step(), 200, false),
            "measuring [##########..........] 5/10  best 2.00x baseline (noise 0.4 %)  1:02:05 left  4 rejected, most spills  matmul(m=1, n=2, k=3)");
}

TEST(Progress, the_bar_is_cut_to_the_terminal_and_no_escape_with_it) {
  EXPECT_EQ(draw_bar(step(), 20, false), "measuring [#########");
  EXPECT_EQ(draw_bar(step(), 20, true), "\033[1mmeasuring\033[0m [#########");
}

TEST(Progress, plain_lines_are_keys_and_values) {
  EXPECT_EQ(plain_line(step()),
            "phase=measuring problem=\"matmul(m=1, n=2, k=3)\" done=5/10 tried=42 speedup=2.000 noise=0.0040 rejected.spills=3 rejected.wrong_result=1 "
            "left_s=3725");
}

TEST(Progress, what_is_not_known_is_left_out) {
  Step first;
  first.phase = "reading";
  EXPECT_EQ(plain_line(first), "phase=reading left_s=0");
  EXPECT_EQ(draw_bar(first, 80, false), "reading    0:00 left");
}

}  // namespace
}  // namespace kiln::autotune::cli
