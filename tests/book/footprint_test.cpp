// The numbers of the book's worked examples, from generators and schedules through the formulas of dsl/footprint. KiB, MiB, GiB are powers of 2.
#include "dsl/footprint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dsl/boundaries.h"
#include "tests/book/book.h"

namespace kiln::book {
namespace {

std::string tiled_product(int tile) {
  return fmt::format(
      "y.tile(n, m, no, mo, ni, mi, {0}, {0}).parallel(no).parallel(mo)\n"
      "c.compute_at(y, no)\n"
      "c.update(0).split(k, ko, ki, 32).reorder(ki, n, m, ko)\n",
      tile);
}

TEST(Product, square_tiles_trade_working_set_for_traffic) {
  const Example product = example("matmul(m=1024, n=12288, k=4096, bf16)");
  struct Row {
    int tile;
    std::int64_t working_set_kib, traffic_mib;
    double intensity;
  };
  for (const Row& row : {Row{32, 8, 6168, 15.9}, Row{64, 24, 3096, 31.8}, Row{128, 80, 1560, 63.0}}) {
    const FootprintTree tree = footprint(product, tiled_product(row.tile));
    const WorkingSet set = working_set(tree, "c.update(0).ko");
    EXPECT_EQ(set.touched, row.working_set_kib * kKiB) << row.tile;
    EXPECT_EQ(set.held, set.touched) << row.tile;
    const std::int64_t bytes = traffic_bytes(tree, set.touched);
    EXPECT_EQ(bytes, row.traffic_mib * kMiB) << row.tile;
    EXPECT_EQ(flops(tree), 2.0 * 1024 * 4096 * 12288) << row.tile;
    EXPECT_NEAR(*flops(tree) / static_cast<double>(bytes), row.intensity, 0.05) << row.tile;
    EXPECT_EQ(compulsory_bytes(tree), 128 * kMiB);
    EXPECT_EQ(parallel_tasks(tree), (1024 / row.tile) * (12288 / row.tile));
  }
  EXPECT_NEAR(2.0 * 1024 * 4096 * 12288 / 1e9, 103, 0.5);
}

TEST(RmsNorm, one_group_a_row_reads_the_row_once) {
  const Example norm = example("book_rmsnorm(m=1024, n=4096)");
  const FootprintTree tree = footprint(norm,
                                       "y.parallel(m)\n"
                                       "scale.compute_at(y, m)\ntotal.compute_at(y, m)\nsegment.compute_at(y, m)\nsquares.compute_at(segment, s)\n");
  EXPECT_EQ(traffic_bytes(tree, working_set(tree, "y.m").held), 24 * kMiB);
  EXPECT_EQ(parallel_tasks(tree), 1024);
  EXPECT_EQ(tree.kernels, (std::vector<std::string>{"y"}));
}

TEST(RmsNorm, eight_segments_a_row_are_more_tasks_and_more_traffic) {
  const Example norm = example("book_rmsnorm(m=1024, n=4096)");
  const FootprintTree tree = footprint(norm,
                                       "segment.compute_root().fuse(s, m, t).parallel(t)\nsquares.compute_at(segment, t)\n"
                                       "scale.compute_root().parallel(m)\ntotal.compute_at(scale, m)\n"
                                       "y.parallel(m)\n");
  const std::int64_t room = 64 * kKiB;  // a row of each argument and more
  EXPECT_EQ(traffic_bytes(tree, room, "x") + traffic_bytes(tree, room, "gamma") + traffic_bytes(tree, room, "y"), 32 * kMiB);
  EXPECT_EQ(traffic_bytes(tree, room, "segment"), 2 * 8192 * 4);
  EXPECT_EQ(traffic_bytes(tree, room, "scale"), 2 * 1024 * 4);
  EXPECT_NEAR(static_cast<double>(traffic_bytes(tree, room)) / kMiB, 32.1, 0.05);
  EXPECT_EQ(parallel_tasks(tree), 8192);
  EXPECT_EQ(tree.kernels, (std::vector<std::string>{"segment", "scale", "y"}));
}

TEST(Chain, every_boundary_between_kernels_costs_a_write_and_a_read) {
  const Example chain = example("book_chain(m=1024, n=12288)");
  struct Row {
    const char* schedule;
    std::size_t kernels;
    std::int64_t traffic_mib, peak_mib;
  };
  for (const Row& row : {Row{"t.compute_root().parallel(m)\nz.compute_root().parallel(m)\nq.parallel(m)\n", 3, 156, 72},
                         Row{"z.compute_root().parallel(m)\nq.parallel(m)\n", 2, 108, 72},
                         Row{"t.compute_root().parallel(m)\nq.parallel(m)\n", 2, 108, 72}, Row{"q.parallel(m)\n", 1, 60, 60}}) {
    const FootprintTree tree = footprint(chain, row.schedule);
    EXPECT_EQ(tree.kernels.size(), row.kernels) << row.schedule;
    EXPECT_EQ(traffic_bytes(tree, 100 * kKiB), row.traffic_mib * kMiB) << row.schedule;
    EXPECT_EQ(peak_live_bytes(tree), row.peak_mib * kMiB) << row.schedule;
  }
}

TEST(Chain, two_operations_in_one_kernel_save_the_value_between_them) {
  const Example chain = example("book_chain(m=1024, n=12288, quantised=false)");
  EXPECT_EQ(traffic_bytes(footprint(chain, "t.compute_root().parallel(m)\nz.parallel(m)\n"), 100 * kKiB), 120 * kMiB);
  EXPECT_EQ(traffic_bytes(footprint(chain, "z.parallel(m)\n"), 100 * kKiB), 72 * kMiB);
}

// The same four ways, found by asking for all of them.
TEST(Chain, the_boundaries_are_ranked_by_what_crosses_memory) {
  const Example chain = example("book_chain(m=1024, n=12288)");
  const auto schedule_of = [](const std::vector<bool>& cut) {
    return parse_schedule(std::string(cut[0] ? "t.compute_root().parallel(m)\n" : "") + (cut[1] ? "z.compute_root().parallel(m)\n" : "") + "q.parallel(m)\n");
  };
  const auto ranked = rank_boundaries(chain.algorithm, chain.problem, {"t", "z"}, schedule_of, {100 * kKiB, Memory::Owner::task, 1});
  ASSERT_EQ(ranked.size(), 4u);
  EXPECT_TRUE(ranked[0].at_root.empty());
  EXPECT_EQ(ranked[0].traffic_bytes, 60 * kMiB);
  EXPECT_EQ(ranked[0].peak_live_bytes, 60 * kMiB);
  EXPECT_EQ(ranked[1].traffic_bytes, 108 * kMiB);
  EXPECT_EQ(ranked[2].traffic_bytes, 108 * kMiB);
  EXPECT_EQ(ranked[3].at_root, (std::vector<std::string>{"t", "z"}));
  EXPECT_EQ(ranked[3].traffic_bytes, 156 * kMiB);
}

constexpr const char* kProductOfQuantised =
    "y.tile(n, m, no, mo, ni, mi, 128, 128).parallel(no).parallel(mo)\n"
    "c.compute_at(y, no)\n"
    "c.update(0).split(k, ko, ki, 64).reorder(ki, n, m, ko)\n";

// The scale vectors are not counted: `row_max` is left out of the sums.
TEST(QuantiseIntoProduct, fusing_reads_the_wide_matrix_once_a_column_of_tiles) {
  const Example operation = example("book_quantise_matmul(m=4096, n=1536, k=4096)");
  const std::int64_t room = 100 * kKiB;
  const auto counted = [&](const FootprintTree& tree) { return traffic_bytes(tree, room) - traffic_bytes(tree, room, "row_max"); };

  const FootprintTree separate = footprint(operation, "q.compute_root().parallel(m)\nrow_max.compute_at(q, m)\n" + std::string(kProductOfQuantised));
  EXPECT_EQ(separate.kernels, (std::vector<std::string>{"q", "y"}));
  EXPECT_EQ(traffic_bytes(separate, room, "A"), 32 * kMiB);
  EXPECT_EQ(traffic_bytes(separate, room, "q"), (16 + 12 * 16) * kMiB);
  EXPECT_EQ(traffic_bytes(separate, room, "W"), 32 * 6 * kMiB);
  EXPECT_EQ(traffic_bytes(separate, room, "C"), 12 * kMiB);
  EXPECT_EQ(counted(separate), 444 * kMiB);

  const FootprintTree fused = footprint(operation, "row_max.compute_root()\nrow_max.update(0).parallel(m)\nq.compute_at(c, ko)\n" +
                                                       std::string(kProductOfQuantised));
  EXPECT_EQ(traffic_bytes(fused, room, "A"), (32 + 12 * 32) * kMiB);
  EXPECT_EQ(traffic_bytes(fused, room, "q"), 0);
  EXPECT_EQ(counted(fused), 620 * kMiB);
  EXPECT_NEAR(static_cast<double>(traffic_bytes(fused, room)) / kMiB, 620, 0.5);
}

// So the boundary belongs after the quantisation, though fewer kernels are possible.
TEST(QuantiseIntoProduct, the_boundary_is_kept_where_fusing_reads_more) {
  const Example operation = example("book_quantise_matmul(m=4096, n=1536, k=4096)");
  const auto schedule_of = [](const std::vector<bool>& cut) {
    return parse_schedule((cut[0] ? "q.compute_root().parallel(m)\nrow_max.compute_at(q, m)\n"
                                  : "row_max.compute_root()\nrow_max.update(0).parallel(m)\nq.compute_at(c, ko)\n") +
                          std::string(kProductOfQuantised));
  };
  const auto ranked = rank_boundaries(operation.algorithm, operation.problem, {"q"}, schedule_of, {100 * kKiB, Memory::Owner::task, 1});
  ASSERT_EQ(ranked.size(), 2u);
  EXPECT_EQ(ranked[0].at_root, (std::vector<std::string>{"q"}));
  EXPECT_EQ(ranked[0].traffic_bytes, 444 * kMiB);
  EXPECT_GT(ranked[1].traffic_bytes, 620 * kMiB);
}

std::string online_attention(std::int64_t rows) {
  return fmt::format(
      "o.split(q, qo, qi, {}, GuardWithIf).parallel(qo)\n"
      "state.compute_at(o, qo)\n"
      "state.update(0).reorder(r.x, r.y, q, r.z)\n"
      "scores.compute_at(state, r.z)\n",
      rows);
}

std::int64_t most_rows(const Example& attention, std::int64_t room) {
  std::int64_t fits = 1, too_many = 1024;
  while (too_many - fits > 1) {
    const std::int64_t rows = (fits + too_many) / 2;
    const bool is_held = working_set(footprint(attention, online_attention(rows)), "state.update(0).r.z").held <= room;
    (is_held ? fits : too_many) = rows;
  }
  return fits;
}

TEST(Attention, longer_blocks_of_keys_leave_room_for_fewer_queries) {
  constexpr std::int64_t kRoom = 101376;
  struct Row {
    int block;
    std::int64_t rows, passes, traffic_mib, updates;
  };
  for (const Row& row : {Row{1, 128, 64, 260, 524288}, Row{64, 82, 100, 404, 12800}, Row{128, 53, 155, 624, 9920}}) {
    const Example attention = example(fmt::format("book_online_attention(l=8192, d=128, block={})", row.block));
    EXPECT_EQ(most_rows(attention, kRoom), row.rows) << row.block;
    const FootprintTree tree = footprint(attention, online_attention(row.rows));
    EXPECT_EQ(iterations(tree, "o.qo"), row.passes) << row.block;
    EXPECT_EQ(iterations(tree, "state.update(0).r.z"), row.updates) << row.block;
    EXPECT_EQ(traffic_bytes(tree, kRoom), row.traffic_mib * kMiB) << row.block;
  }
}

TEST(Attention, full_matrices_of_scores_cross_four_times) {
  const Example attention = example("book_full_attention(l=8192, d=128)");
  const FootprintTree tree = footprint(attention,
                                       "s.compute_root().parallel(q)\ndot.compute_at(s, k)\n"
                                       "p.compute_root().parallel(q)\nrow_max.compute_at(p, q)\n"
                                       "o.parallel(q)\nrow_sum.compute_at(o, q)\nsums.compute_at(o, q)\nsums.update(0).reorder(d, all, q)\n");
  EXPECT_EQ(traffic_bytes(tree, 101376, "s") + traffic_bytes(tree, 101376, "p"), kGiB);
}

}  // namespace
}  // namespace kiln::book
