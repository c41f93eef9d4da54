// Right kernels are right, and not reported, whatever the seed: asynchronous copies early and late, threads in any order.
#include <gtest/gtest.h>

#include "subjects.h"

namespace kiln::generators::cuda::emulator {
namespace {

constexpr unsigned kSeeds = 16;  // every mixture of asynchronous operations with every frequency of yields

void expect_right(const Subject& subject, const std::string& text, unsigned seeds = kSeeds) {
  const Compiled kernel(text, subject.kernel);
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const Outcome result = outcome(subject, kernel, seed);
    EXPECT_EQ(result.word, "right") << subject.kernel << ", seed " << seed << ": " << result.text;
    if (result.word != "right") return;
  }
}
void expect_right(const Subject& subject, unsigned seeds = kSeeds) { expect_right(subject, text_of(subject), seeds); }

TEST(Right, ring_of_tiles) { expect_right(ring()); }
TEST(Right, ring_by_two_persistent_blocks) {
  Subject subject = ring();
  subject.launch.grid = 2;
  expect_right(subject);
}
TEST(Right, multicast_in_a_cluster) { expect_right(multicast()); }
TEST(Right, split_reduction_through_a_workspace) { expect_right(split()); }
TEST(Right, named_barriers_pass_the_turn) { expect_right(turns()); }
TEST(Right, dependent_launch) { expect_right(dependent()); }
TEST(Right, e4m3_products) { expect_right(product_e4m3()); }
TEST(Right, moves_in_a_warp_and_across_blocks) { expect_right(moves()); }
TEST(Right, blocks_in_line_at_a_flag) { expect_right(turnstile()); }
TEST(Right, bulk_copies_in_and_out) { expect_right(map_ring()); }
TEST(Right, rows_shared_by_a_cluster) { expect_right(row_softmax()); }
TEST(Right, warp_matrix_products) { expect_right(matvec()); }

TEST(Right, conversions_and_approximations) { expect_right(numbers()); }
TEST(Right, every_kind_of_move) { expect_right(every_move()); }
TEST(Right, every_width_of_wgmma) {
  expect_right(every_width(false, false), 2);
  expect_right(every_width(false, true), 2);
  expect_right(every_width(true, false), 2);
}

TEST(Right, every_swizzle_with_every_major_order) {
  for (const int span : {128, 64, 32})
    for (const bool a_mn : {false, true})
      for (const bool b_mn : {false, true}) {
        const Subject subject = layouts(span, a_mn, b_mn);
        const Compiled kernel(text_of(subject), subject.kernel);
        for (unsigned seed = 1; seed <= 2; ++seed) {
          const Outcome result = outcome(subject, kernel, seed);
          EXPECT_EQ(result.word, "right") << subject.head << "seed " << seed << ": " << result.text;
        }
      }
}

TEST(Right, tiles_without_swizzle) { expect_right(layouts(16, false, false)); }

// Variants that are right in other ways.
TEST(Right, one_lane_of_each_warp_releases) {
  std::string text = replaced(text_of(ring()), "mbar_init(empty(s), 1);", "mbar_init(empty(s), 4);");
  text = replaced(text, "if (t == 0) mbar_arrive(empty(stage));", "if (lane == 0) mbar_arrive(empty(stage));");
  expect_right(ring(), text);
}
TEST(Right, one_lane_waits_and_the_warp_meets) {
  expect_right(ring(), replaced(text_of(ring()), "mbar_wait(full(s), phase);", "if (lane == 0) mbar_wait(full(s), phase); __syncwarp();"));
}
TEST(Right, bytes_are_expected_after_the_first_copy) {
  std::string text = replaced(text_of(ring()), "mbar_expect_tx(full(s), P_BYTES + Q_BYTES);", "");
  text = replaced(text, "HINT_EVICT_FIRST);", "HINT_EVICT_FIRST); mbar_expect_tx(full(s), P_BYTES + Q_BYTES);");
  expect_right(ring(), text);
}
TEST(Right, whole_stores_are_waited_for_instead_of_their_reads) {
  expect_right(ring(), replaced(text_of(ring()), "bulk_wait_read<BUFFERS - 1>();", "bulk_wait_all();"));
}
TEST(Right, one_fence_after_the_barrier) {
  std::string text = replaced(text_of(split()), "  __threadfence();\n  __syncthreads();\n  if (t == 0) {\n", "  __syncthreads();\n  if (t == 0) {\n    __threadfence();\n");
  expect_right(split(), text);
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
