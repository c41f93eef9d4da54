#include "generators/cuda/resources/ring_time.h"

#include <gtest/gtest.h>

#include "tests/generators/cuda/resources/gpus.h"

namespace kiln::generators::cuda::resources {
namespace {

// 128 x 192 by two consumers that take turns, over 1024 x 12288 x 4096 in bf16.
RingWork in_turn() {
  return {.ring = {.tile = {128, 192, 64}, .element_bytes = 2, .stages = 4, .store_bytes = 2 * 2 * 64 * 64 * 2},
          .tall = 1024,
          .wide = 12288,
          .terms = 4096,
          .consumers = 2,
          .takes_turns = true,
          .is_persistent = true,
          .group = 8};
}

// Weights on the tall side, 16 rows on the other.
RingWork few_rows() {
  return {.ring = {.tile = {128, 16, 64}, .element_bytes = 2, .stages = 7, .store_bytes = 2 * 64 * 16 * 2},
          .tall = 12288,
          .wide = 16,
          .terms = 4096,
          .is_grouped_along_wide = true};
}

RingWork of_codes() {
  RingWork work = in_turn();
  work.ring.tile.k = 128;
  work.ring.element_bytes = 1;
  work.takes_turns = false;
  work.is_promoted = true;
  return work;
}

template <typename Change>
double us(RingWork work, const Change& change) {
  change(work);
  return ring_time(work, gpu_named("h200"))->ns / 1000;
}
double us(const RingWork& work) {
  return us(work, [](RingWork&) {});
}

// Medians of a hot run on an H200.
TEST(RingTime, is_within_a_tenth_of_what_an_h200_took) {
  const auto expect = [](double measured, double predicted) { EXPECT_NEAR(predicted / measured, 1, 0.1) << measured << " us were measured, " << predicted << " predicted"; };
  expect(145.7, us(in_turn()));
  expect(145.7, us(in_turn(), [](RingWork& w) { w.ring.tile.n = 128, w.ring.stages = 6; }));
  expect(150.4, us(in_turn(), [](RingWork& w) { w.takes_turns = false, w.ring.stages = 5; }));
  expect(157.1, us(in_turn(), [](RingWork& w) { w.takes_turns = false, w.ring.stages = 5, w.is_persistent = false; }));
  expect(173.1, us(in_turn(), [](RingWork& w) { w.takes_turns = false, w.is_persistent = false, w.ring.tile.m = 64, w.consumers = 1, w.ring.stages = 6; }));
  expect(238.9, us(in_turn(), [](RingWork& w) { w.takes_turns = false, w.is_persistent = false, w.ring.tile.n = 64, w.ring.stages = 8; }));
  expect(593.6, us(in_turn(), [](RingWork& w) { w.tall = 4096; }));
  expect(793.1, us(in_turn(), [](RingWork& w) { w.tall = 4096, w.ring.tile.n = 128, w.ring.stages = 6, w.group = 1; }));
  expect(1041.7, us(in_turn(), [](RingWork& w) { w.tall = 4096, w.ring.stages = 2; }));
  expect(38.1, us(in_turn(), [](RingWork& w) { w.tall = 256, w.takes_turns = false, w.is_persistent = false, w.ring.stages = 5; }));
  expect(25.8, us(few_rows(), [](RingWork& w) { w.is_evicted_first = true; }));
  expect(26.0, us(few_rows(), [](RingWork& w) { w.ring.tile.m = 64, w.ring.stages = 5, w.blocks_per_sm = 2; }));
  expect(30.2, us(few_rows(), [](RingWork& w) { w.ring.tile.m = 64, w.ring.stages = 10; }));
  expect(85.9, us(of_codes(), [](RingWork& w) { w.ring.stages = 5; }));
  expect(145.7, us(of_codes(), [](RingWork& w) { w.ring.tile.m = 64, w.consumers = 1, w.ring.stages = 6, w.is_persistent = false; }));
}

TEST(RingTime, is_no_less_for_more_rows_terms_or_columns) {
  double before = 0;
  for (const std::int64_t rows : {64, 128, 256, 1000, 1024, 4096, 7239}) {
    const double now = us(in_turn(), [&](RingWork& w) { w.tall = rows; });
    EXPECT_GE(now, 0.99 * before) << rows;  // more of the weights' copies come from L2, which is nearer
    before = now;
  }
  EXPECT_GT(us(in_turn(), [](RingWork& w) { w.terms = 8192; }), 1.8 * us(in_turn()));
  EXPECT_GT(us(in_turn(), [](RingWork& w) { w.wide = 24576; }), 1.8 * us(in_turn()));
}

TEST(RingTime, is_less_with_more_stages_until_they_no_longer_bind) {
  const auto of = [](int stages) { return us(in_turn(), [&](RingWork& w) { w.ring.stages = stages; }); };
  EXPECT_LT(of(3), of(2));
  EXPECT_LE(of(4), of(3));
  EXPECT_DOUBLE_EQ(of(5), of(4));
}

// 128 tiles fill 132 SMs; 133 take a second turn.
TEST(RingTime, jumps_where_tiles_no_longer_fit_one_turn) {
  RingWork work = in_turn();
  work.takes_turns = work.is_persistent = false;
  work.tall = 128;
  const auto of = [&](std::int64_t tiles) {
    work.wide = 192 * tiles;
    return *ring_time(work, gpu_named("h200"));
  };
  EXPECT_DOUBLE_EQ(of(66).waves, 0.5);
  EXPECT_DOUBLE_EQ(of(132).waves, 1);
  EXPECT_DOUBLE_EQ(of(132).used, 1);
  EXPECT_DOUBLE_EQ(of(198).used, 0.75);
  EXPECT_GT(of(133).ns, 1.6 * of(132).ns);
  EXPECT_LT(of(264).ns, 1.2 * of(133).ns);
}

TEST(RingTime, is_less_where_nothing_waits_for_results_to_leave) {
  EXPECT_LT(us(in_turn()), us(in_turn(), [](RingWork& w) { w.takes_turns = false; }));
  EXPECT_LT(us(in_turn(), [](RingWork& w) { w.takes_turns = false; }), us(in_turn(), [](RingWork& w) { w.takes_turns = w.is_persistent = false; }));
}

TEST(RingTime, of_promoted_sums_is_less_where_another_consumer_fills_the_waits) {
  EXPECT_LT(us(of_codes()), us(of_codes(), [](RingWork& w) { w.consumers = 1; }));
  EXPECT_LT(us(of_codes(), [](RingWork& w) { w.is_promoted = false; }), us(of_codes()));
}

TEST(RingTime, of_one_tile_in_parts_is_less_while_sms_have_nothing_to_do) {
  const auto of = [](int parts) { return us(in_turn(), [&](RingWork& w) { w.tall = 128, w.wide = 768, w.terms = 12288, w.takes_turns = w.is_persistent = false, w.parts = parts; }); };
  EXPECT_LT(of(2), of(1));
  EXPECT_LT(of(4), of(2));
}

TEST(RingTime, names_what_binds) {
  const auto binds = [](RingWork work) { return std::string(print(ring_time(work, gpu_named("h200"))->binds())); };
  EXPECT_EQ(binds(in_turn()), "tensor_cores");
  RingWork narrow = in_turn();
  narrow.ring.tile.n = 64;
  narrow.ring.stages = 8;
  EXPECT_EQ(binds(narrow), "shared_memory");
  RingWork shallow = in_turn();
  shallow.ring.stages = 2;
  EXPECT_EQ(binds(shallow), "latency");
  EXPECT_EQ(binds(few_rows()), "memory_bandwidth");
  RingWork ungrouped = in_turn();
  ungrouped.tall = 4096;
  ungrouped.ring.tile.n = 128;
  ungrouped.group = 1;
  EXPECT_EQ(binds(ungrouped), "memory_bandwidth") << "weights come past once for every row of tiles";
}

TEST(RingTime, counts_what_is_read_and_what_is_under_way) {
  const auto time = *ring_time(in_turn(), gpu_named("h200"));
  const double a = 1024.0 * 4096 * 2, b = 12288.0 * 4096 * 2, out = 1024.0 * 12288 * 2;
  EXPECT_DOUBLE_EQ(time.l2_bytes, 8 * 64 * (128 + 192) * 4096.0 * 2);
  EXPECT_DOUBLE_EQ(time.memory_bytes, a + b + out) << "a group of all eight rows of tiles has the weights past once";
  EXPECT_DOUBLE_EQ(time.bytes_in_flight, 132 * 4 * (128 + 192) * 64 * 2.0);
  EXPECT_DOUBLE_EQ(time.waves, 512 / 132.0);
}

TEST(RingTime, is_absent_where_the_data_sheet_is) {
  Gpu unknown = gpu_named("h200");
  unknown.tensor_flops = 0;
  EXPECT_EQ(ring_time(in_turn(), unknown), std::nullopt);
}

}  // namespace
}  // namespace kiln::generators::cuda::resources
