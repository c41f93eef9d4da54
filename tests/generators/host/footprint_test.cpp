#include "generators/host/footprint.h"

#include <gtest/gtest.h>

#include <set>

namespace kiln::generators::host {
namespace {

const std::vector<Buffer> kFloats{{.name = "a", .element_bytes = 4, .bytes = std::int64_t{1} << 30}, {.name = "small", .element_bytes = 4, .bytes = 256}};

std::int64_t touched(std::vector<Access> accesses, std::set<int> walking = {0, 1, 2, 3}) {
  std::vector<const Access*> pointers;
  for (const Access& access : accesses) pointers.push_back(&access);
  return total(touched_bytes(pointers, kFloats, [&](int loop) { return walking.contains(loop); }));
}

Access at(std::int64_t base, std::vector<Span> spans, int buffer = 0) { return {buffer, Place{base, std::move(spans)}}; }

TEST(Footprint, one_element_is_one_line) { EXPECT_EQ(touched({at(0, {})}), 64); }
TEST(Footprint, a_vector_of_16_floats_is_one_line) { EXPECT_EQ(touched({at(0, {{Span::kLane, 1, 16}})}), 64); }
TEST(Footprint, a_loop_over_vectors_is_one_run) { EXPECT_EQ(touched({at(0, {{Span::kLane, 1, 16}, {0, 16, 10}})}), 640); }
TEST(Footprint, a_column_touches_a_line_for_each_row) { EXPECT_EQ(touched({at(0, {{0, 1000, 10}})}), 640); }
TEST(Footprint, a_tile_is_rows_times_lines) { EXPECT_EQ(touched({at(0, {{0, 1, 64}, {1, 1000, 6}})}), 6 * 256); }
TEST(Footprint, a_loop_that_stands_still_adds_nothing) { EXPECT_EQ(touched({at(0, {{0, 1, 64}, {1, 1000, 6}})}, {0}), 256); }
TEST(Footprint, the_same_place_twice_counts_once) { EXPECT_EQ(touched({at(5, {{0, 16, 4}}), at(5, {{0, 16, 4}})}), 256); }
TEST(Footprint, a_loop_that_walks_downwards_touches_as_much) { EXPECT_EQ(touched({at(999, {{0, -1, 64}})}), 256); }

TEST(Footprint, windows_that_slide_over_rows_share_them) {
  EXPECT_EQ(touched({at(0, {{0, 1, 64}, {1, 1000, 32}, {2, 1000, 3}})}), 34 * 256);  // 32 output rows under a window of 3
}

TEST(Footprint, unrolled_copies_join_into_a_tile) {
  std::vector<Access> copies;
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 4; ++column) copies.push_back(at(row * 1000 + column * 16, {{Span::kLane, 1, 16}}));
  EXPECT_EQ(touched(copies), 6 * 256);
}

TEST(Footprint, taps_beside_each_other_share_their_line) { EXPECT_EQ(touched({at(0, {{0, 1, 62}}), at(1, {{0, 1, 62}}), at(2, {{0, 1, 62}})}), 256); }

TEST(Footprint, no_more_than_the_buffer) { EXPECT_EQ(touched({at(0, {{0, 1, 1000000}}, 1)}), 256); }

TEST(Footprint, an_index_that_depends_on_values_touches_a_line_each_time_up_to_the_whole_buffer) {
  const auto gather = [](int buffer) { return Access{buffer, std::nullopt, {{Span::kLane, 0, 1}, {0, 0, 3}, {1, 0, 100}}}; };
  EXPECT_EQ(touched({gather(0)}, {0}), 3 * 64);
  EXPECT_EQ(touched({gather(0)}), 300 * 64);
  EXPECT_EQ(touched({gather(1)}), 256);
}

// Against counting lines one by one, over strides and windows that overlap, touch and miss each other.
TEST(Footprint, equals_counting_for_two_nested_loops) {
  for (const std::int64_t outer_step : {16, 32, 48, 64, 160, 1024})
    for (const std::int64_t outer_count : {1, 2, 5})
      for (const std::int64_t inner_count : {1, 16, 64, 128}) {
        std::set<std::int64_t> lines;
        for (std::int64_t i = 0; i < outer_count; ++i)
          for (std::int64_t j = 0; j < inner_count; ++j) lines.insert((i * outer_step + j) * 4 / 64);
        EXPECT_EQ(touched({at(0, {{0, 1, inner_count}, {1, outer_step, outer_count}})}), static_cast<std::int64_t>(lines.size()) * 64)
            << outer_count << " x " << outer_step << " over " << inner_count;
      }
}

}  // namespace
}  // namespace kiln::generators::host
