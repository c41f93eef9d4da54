// Schedules that are known to be good on pictures and products are points of the spaces that the sketch derives.
#include <gtest/gtest.h>

#include "dsl/legality.h"
#include "schedules/devices.h"
#include "schedules/sketch.h"
#include "tests/schedules/sketch_subjects.h"

namespace kiln::schedules {
namespace {

// The schedule of the point with these values; knobs left out are at their first.
std::string schedule_at(const std::string& problem, const std::map<std::string, KnobValue>& wish) {
  const SketchSubject subject = read_subject(problem);
  Space space = sketch(subject.algorithm, subject.problem, device_named("zen4"));
  if (!space.seed(wish, "known")) return "no point of the space";
  const Schedule schedule = space.schedule(space.seeds().back().point);
  const auto illegal = find_illegal(schedule, subject.algorithm, &subject.problem);
  return illegal ? illegal->message : print(schedule);
}

KnobValue word(const char* text) { return std::string(text); }

// The best of 150 random candidates at 1.29 times the author's: channels inside vectors of 32, brightness and the vertical blur kept by strips of
// 64 rows, all else written out.
TEST(KnownSchedules, unsharp_by_strips_with_channels_inside_wide_vectors) {
  EXPECT_EQ(schedule_at("unsharp(w=1536, h=1024, c=3)", {{"lanes", 32}, {"tail", word("RoundUp")}, {"deep", 3}, {"strip", 64}, {"place.gray", word("task")}, {"place.blur_y", word("task")}}),
            "output.split(x, xo, xi, 32, RoundUp).split(c, co, ci, 3, RoundUp).split(y, strip, y, 64, GuardWithIf).reorder(xi, ci, xo, y, co, strip)"
            ".fuse(co, strip, task).parallel(task).vectorize(xi, 32).unroll(ci)\n"
            "blur_y.compute_at(output, task).vectorize(x, 32, ShiftInwards)\n"
            "gray.compute_at(output, task).vectorize(x, 32, ShiftInwards)\n");
}

// The best of 130 at 1.17 times the author's, but for the gradients' common loop: strips, three rows of the response at once, brightness by the
// strip, gradients sliding down.
TEST(KnownSchedules, corners_three_rows_at_a_time_over_sliding_gradients) {
  EXPECT_EQ(schedule_at("harris_like()", {{"lanes", 16}, {"tail", word("RoundUp")}, {"rows", 3}, {"unroll", 1}, {"strip", 6}, {"place.gray", word("task")}, {"place.ix", word("slide")}, {"place.iy", word("slide")}}),
            "");
}

// The best of 150 at 1.09 times the author's: a tile of 2 vectors by 2 by 4 in registers over all taps, four input channels at a time, the filter
// copied once.
TEST(KnownSchedules, convolution_in_a_register_tile_of_three_loops) {
  EXPECT_EQ(schedule_at("conv(co=64, ci=64, w=96, h=64)",
                        {{"lanes", 16}, {"vectors", 2}, {"tail", word("RoundUp")}, {"rows", 2}, {"deep", 4}, {"unroll", 1}, {"strip", 1}, {"place.c", word("tile")},
                         {"place.filter.in", word("root")}, {"place.padded", word("root")}, {"along.c", word("loop")}, {"steps.c", 4}}),
            "");
}

// The textbook's: the first blur kept just ahead of the second, in a window that slides down the strip.
TEST(KnownSchedules, two_blurs_with_a_window_sliding_down_the_strip) {
  EXPECT_EQ(schedule_at("blur_twice()", {{"lanes", 32}, {"tail", word("RoundUp")}, {"strip", 8}, {"place.down", word("slide")}}), "");
}

// Recursive filters down the columns: strips of columns, each whole in its task.
TEST(KnownSchedules, a_recursive_filter_by_strips_of_columns) {
  EXPECT_EQ(schedule_at("recursive()", {{"walk", word("columns")}, {"lanes", 16}, {"vectors", 2}, {"tail", word("RoundUp")}, {"strip", 1}, {"place.filtered", word("task")}, {"along.filtered", word("loop")}}),
            "");
}

// A product whose sums stay in registers, though nothing is read from it.
TEST(KnownSchedules, a_bare_product_in_tiles_of_registers) {
  EXPECT_EQ(schedule_at("bare_product()", {{"lanes.C", 16}, {"vectors.C", 4}, {"rows.C", 4}, {"along.C", word("loop")}, {"place.B.in", word("inline")}}), "");
}

}  // namespace
}  // namespace kiln::schedules
