// The numbers of the book's worked examples on a GPU, through the formulas of generators/cuda/resources and the limits of named devices.
#include <gtest/gtest.h>

#include "generators/cuda/resources/banks.h"
#include "generators/cuda/resources/in_flight.h"
#include "generators/cuda/resources/pipeline.h"
#include "generators/cuda/resources/residency.h"
#include "generators/cuda/resources/tile.h"
#include "schedules/devices.h"
#include "tests/book/book.h"

namespace kiln::book {
namespace {

using namespace generators::cuda::resources;

const Gpu& h100() { return *schedules::device_named("h100").gpu; }

// Two operands of bf16, 32 deep, as often as there are buffers, and the sums in f32.
std::int64_t working_set(std::int64_t tile, int buffers) { return buffers * 2 * (2 * tile * 32) + 4 * tile * tile; }

const BlockNeeds kProduct{.threads = 256, .registers = 128, .shared_bytes = 96 * kKiB};

TEST(Residency, registers_and_shared_memory_hold_two_blocks) {
  const Residency held = residency(kProduct, h100());
  EXPECT_EQ(held.by_threads, 8);
  EXPECT_EQ(held.by_registers, 2);
  EXPECT_EQ(held.by_shared_bytes, 2);
  EXPECT_EQ(held.by_blocks, 32);
  EXPECT_EQ(held.blocks, 2);
  EXPECT_EQ(held.warps, 16);
  EXPECT_EQ(held.occupancy, 0.25);
  EXPECT_EQ(held.binds, (std::vector<Limit>{Limit::registers, Limit::shared_bytes}));
}

TEST(Residency, a_second_buffer_costs_blocks_on_a_smaller_sm) {
  Gpu smaller = h100();
  smaller.sm_shared_bytes = 100 * kKiB;
  struct Row {
    std::int64_t tile;
    int buffers;
    std::int64_t kib, blocks;
  };
  for (const Row& row : {Row{64, 1, 24, 4}, Row{128, 1, 80, 1}, Row{64, 2, 32, 3}, Row{128, 2, 96, 1}}) {
    EXPECT_EQ(working_set(row.tile, row.buffers), row.kib * kKiB);
    EXPECT_EQ(residency({.threads = 256, .shared_bytes = working_set(row.tile, row.buffers)}, smaller).by_shared_bytes, row.blocks) << row.kib;
  }
}

TEST(BytesInFlight, enough_loads_cover_the_latency) {
  LoadPattern pattern{.warps = residency(kProduct, h100()).warps, .block_warps = kProduct.threads / h100().warp_threads, .loads_per_thread = 4};
  const auto enough = in_flight(pattern, 600, h100());
  EXPECT_NEAR(enough->needed_bytes / 1e3, 15.2, 0.05);
  EXPECT_EQ(enough->bytes, 32 * kKiB);
  EXPECT_NEAR(enough->cover(), 2.15, 0.005);
  pattern.loads_per_thread = 2;
  const auto short_of_it = in_flight(pattern, 1000, h100());
  EXPECT_NEAR(short_of_it->needed_bytes / 1e3, 25.4, 0.05);
  EXPECT_EQ(short_of_it->bytes, 16 * kKiB);
  EXPECT_NEAR(short_of_it->cover(), 0.65, 0.005);
  EXPECT_EQ(short_of_it->warps_needed, 25);
  EXPECT_EQ(short_of_it->blocks_needed, 4);
}

TEST(MmaCount, a_tile_is_so_many_instructions_a_warp) {
  const std::int64_t instructions = mma_count({128, 128, 64}, {16, 8, 16});
  EXPECT_EQ(instructions, 512);
  EXPECT_EQ(instructions / (kProduct.threads / h100().warp_threads), 64);
}

TEST(Pipeline, two_buffers_hide_the_computation_and_a_third_gains_nothing) {
  const StepTimes step{.copy_ns = *copy_ns(2 * (128 * 64) * 2, h100()), .compute_ns = *product_ns(2.0 * 128 * 128 * 64, h100())};
  EXPECT_NEAR(step.copy_ns / 1e3, 1.29, 0.005);
  EXPECT_NEAR(step.compute_ns / 1e3, 0.28, 0.005);
  EXPECT_NEAR(pipeline_ns(step, 4, 1) / 1e3, 6.28, 0.005);
  EXPECT_NEAR(pipeline_ns(step, 4, 2) / 1e3, 5.44, 0.005);
  EXPECT_DOUBLE_EQ(pipeline_ns(step, 4, 3), pipeline_ns(step, 4, 2));
}

TEST(BankConflicts, a_padded_or_swizzled_column_is_read_at_once) {
  const SharedMatrix plain{32, 32, 32}, padded{32, 32, 33}, swizzled{32, 32, 32, true};
  EXPECT_EQ(rounds_down_columns(plain), 32);
  EXPECT_EQ(rounds_down_columns(padded), 1);
  EXPECT_NEAR(100 * padded.padding(), 3.1, 0.05);
  EXPECT_EQ(rounds_down_columns(swizzled), 1);
}

}  // namespace
}  // namespace kiln::book
