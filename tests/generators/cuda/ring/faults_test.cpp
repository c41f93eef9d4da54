// Faults planted in the ring's text, one edit each: a wait left out, a wrong parity, an early release, a missing fence, a wrong swizzle, a stride, a tile lost,
// parts that meet too early. Whatever threads and copies do first, the emulator or the comparison with the reference names it.
#include <gtest/gtest.h>

#include "tests/generators/cuda/ring/coded_product.h"
#include "tests/generators/cuda/stream/planted.h"

namespace kiln::tests {
namespace {

class RingFaults : public testing::TestWithParam<Planted> {
 public:
  static void SetUpTestSuite() { register_coded_product(); }
};

TEST_P(RingFaults, are_named) { expect_named(GetParam()); }

// Three tiles of rows by three of columns, two blocks that go on, a ring that each tile goes round thrice.
const PlantedKernel kShared{"matmul(m=300, n=328, k=328, bf16, has_bias=true)",
                            "y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).persistent().raster(mo, 2).dependent_launch()\nc.compute_at(y, no)\n"
                            "c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kWaits[] = {
    {"a stage is not waited for", kShared, "mbar_wait(full(s), parity);\n", "", {"race", "uninitialised", "wrong numbers"}},
    {"one lane waits for all", kShared, "mbar_wait(full(s), parity);", "if (lane == 0) mbar_wait(full(s), parity);", {"race", "uninitialised", "wrong numbers"}},
    {"copies do not wait for an empty stage", kShared, "mbar_wait(empty(s), parity);\n", "", {"race", "arrival count"}},
    {"the other parity of a full stage", kShared, "u32 parity = 0;", "u32 parity = 1;", {"race", "deadlock", "uninitialised"}},
    {"the other parity of an empty stage", kShared, "u32 parity = 1;", "u32 parity = 0;", {"deadlock"}},
    {"the parity of empty stages never turns", kShared, "            s = 0;\n            parity ^= 1;", "            s = 0;", {"race", "deadlock", "arrival count"}},
    {"the parity of full stages never turns", kShared, "          s = 0;\n          parity ^= 1;", "          s = 0;", {"race", "deadlock", "uninitialised"}},
    {"the stage in use is given back", kShared, "mbar_arrive(empty(previous));\n        previous = s;", "mbar_arrive(empty(s));\n        previous = s;", {"race", "deadlock", "arrival count"}},
    {"a stage is given back while it is read", kShared, "wgmma_wait<1>();", "wgmma_wait<2>();", {"race", "deadlock"}},
    {"the last stage of a tile is not given back", kShared, "      if (t == 0) mbar_arrive(empty(previous));\n", "", {"deadlock", "race"}},
    {"one consumer gives a stage back for both", kShared, "mbar_init(empty(s), 2)", "mbar_init(empty(s), 1)", {"race", "arrival count"}},
    {"a third consumer is waited for", kShared, "mbar_init(empty(s), 2)", "mbar_init(empty(s), 3)", {"deadlock"}},
    {"more bytes are expected than come", kShared, "mbar_expect_tx(full(s), P_BYTES + Q_BYTES)", "mbar_expect_tx(full(s), P_BYTES + Q_BYTES + 1024)", {"deadlock"}},
    {"fewer bytes are expected than come", kShared, "mbar_expect_tx(full(s), P_BYTES + Q_BYTES)", "mbar_expect_tx(full(s), P_BYTES + Q_BYTES - 1024)", {"race", "deadlock", "transaction count"}},
    {"the barriers are not seen by copies", kShared, "    fence_mbar_init();\n", "", {"unfenced"}},
    {"nobody waits for the barriers", kShared, "  __syncthreads();\n", "", {"no mbarrier", "race", "uninitialised"}},
    {"the kernel before is not waited for", kShared, "  pdl_wait();\n", "", {"dependent launch"}},
    {"more registers are asked for than there are", kShared, "regs_grow<232>", "regs_grow<240>", {"deadlock"}},
    {"who copies keeps its registers", kShared, "    regs_shrink<40>();\n", "", {"deadlock"}},
};
INSTANTIATE_TEST_SUITE_P(Waits, RingFaults, testing::ValuesIn(kWaits), test_name);

const Planted kProducts[] = {
    {"the sums of a tile are read while they are made", kShared, "      wgmma_wait<0>();\n", "", {"accumulator", "race"}},
    {"registers are not fenced", kShared, "        wgmma_fence();\n", "", {"wgmma.fence"}},
    {"a step is not committed", kShared, "        wgmma_commit();\n", "", {"race", "accumulator", "uncommitted"}},
    {"sums are not begun anew", kShared, "k != 0 || step != 0", "1", {"wrong numbers"}},
    {"only the last terms of the first step count", kShared, "k != 0 || step != 0", "k != 0", {"wrong numbers"}},
    {"terms of p are taken twice", kShared, "wgmma_desc(p + step * 32, 16)", "wgmma_desc(p, 16)", {"wrong numbers"}},
    {"terms of q are taken twice", kShared, "wgmma_desc(q + step * 2048, 8192)", "wgmma_desc(q, 8192)", {"wrong numbers"}},
    {"columns are taken from the block before", kShared, "wgmma_desc(q + step * 2048, 8192)", "wgmma_desc(q + step * 2048, 4096)", {"wrong numbers", "misaligned"}},
    {"an operand begins within its swizzle", kShared, "const u32 p = smem + s * P_BYTES", "const u32 p = smem + 512 + s * P_BYTES", {"misaligned"}},
    {"both consumers take the same rows", kShared, "s * P_BYTES + consumer * 8192", "s * P_BYTES", {"wrong numbers"}},
    {"the last terms are left out", kShared, "(terms + DEPTH - 1) / DEPTH", "terms / DEPTH", {"wrong numbers"}},
    {"rows and terms change places", kShared, "full(s), k * DEPTH, at.p, hint_p", "full(s), at.p, k * DEPTH, hint_p", {"wrong numbers"}},
    {"a block of columns is copied twice", kShared, "at.q + j * 64, k * DEPTH", "at.q, k * DEPTH", {"wrong numbers"}},
    {"blocks of columns lie over each other", kShared, "s * Q_BYTES + j * 8192", "s * Q_BYTES", {"race"}},
    {"a group of tiles is not cut off at the end", kShared, "size = min(most, tiles_p - first)", "size = most", {"unwritten output"}},
    {"tiles overlap", kShared, "return {p * TILE_P, q * TILE_Q};", "return {p * TILE_P, q * 64};", {"race", "unwritten output"}},
};
INSTANTIATE_TEST_SUITE_P(Products, RingFaults, testing::ValuesIn(kProducts), test_name);

const Planted kStores[] = {
    {"results are not seen by the copy", kShared, "        fence_async_proxy();\n", "", {"unfenced"}},
    {"the copy does not wait for all results", kShared, "        bar_sync(1 + consumer, 128);\n        if (t == 0) {", "        if (t == 0) {", {"race", "unfenced", "uninitialised"}},
    {"a buffer is filled while it is copied", kShared, "        if (t == 0) bulk_wait_read<1>();\n", "", {"race"}},
    {"one copy too many is left under way", kShared, "bulk_wait_read<1>", "bulk_wait_read<2>", {"race"}},
    {"only one thread knows that a buffer is free", kShared, "        bar_sync(1 + consumer, 128);\n        const int first_row", "        const int first_row", {"race"}},
    {"copies are not committed", kShared, "          bulk_commit();\n", "", {"uncommitted", "race"}},
    {"the block ends before its copies", kShared, "    if (t == 0) bulk_wait_all();\n", "", {"store in flight"}},
    {"consumers share their buffers", kShared, "AT_STORE + consumer * 2 * BUFFER_BYTES", "AT_STORE", {"race"}},
    {"results are not swizzled", kShared, "(piece ^ line % 8)", "piece", {"wrong numbers"}},
    {"every chunk is the first", kShared, "c * 32 + block * 4", "block * 4", {"wrong numbers"}},
    {"a chunk is not stored", kShared, "for (int c = 0; c < 2; ++c)", "for (int c = 0; c < 1; ++c)", {"unwritten output"}},
    {"chunks are stored at the first", kShared, "first_column = at.q + c * 64", "first_column = at.q", {"race", "unwritten output"}},
    {"rows and columns change places", kShared, "buffer, first_column, first_row", "buffer, first_row, first_column", {"race", "unwritten output", "wrong numbers"}},
    {"the bias is read beyond its end", kShared, "min(first_column + block * 8 + lane % 4 * 2, columns - 2)", "first_column + block * 8 + lane % 4 * 2", {"out of bounds"}},
    {"the bias of another column", kShared, "lane % 4 * 2, columns - 2", "lane % 2 * 2, columns - 2", {"wrong numbers"}},
};
INSTANTIATE_TEST_SUITE_P(Stores, RingFaults, testing::ValuesIn(kStores), test_name);

const PlantedKernel kTurns{"matmul(m=250, n=264, k=296, bf16, weights=kn)",
                           "y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, pingpong).persistent().raster(mo, 8)\nc.compute_at(y, no)\n"
                           "c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kInTurn[] = {
    {"the turn is not passed on", kTurns, "      if (i + gridDim.x < tiles_p * tiles_q) bar_arrive(4 + (consumer ^ 1), 256);\n", "", {"deadlock"}},
    {"nobody begins", kTurns, "    if (consumer == 1) bar_arrive(4, 256);  // the other begins\n", "", {"deadlock"}},
    {"a turn of half the threads", kTurns, "bar_sync(4 + consumer, 256)", "bar_sync(4 + consumer, 128)", {"barrier count", "deadlock"}},
    {"the other's steps are not counted", kTurns, "++turn, done += steps", "++turn", {"race", "deadlock", "uninitialised", "wrong numbers", "arrival count"}},
    {"both take every tile", kTurns, "      if (turn % 2 != consumer) continue;\n", "", {"race", "deadlock", "arrival count", "barrier count"}},
    {"the parity of a turn is not the ring's", kTurns, "done / STAGES % 2", "0", {"race", "deadlock", "uninitialised", "wrong numbers"}},
    {"the stage of a turn is not the ring's", kTurns, "int s = done % STAGES;", "int s = 0;", {"race", "deadlock", "uninitialised", "wrong numbers", "arrival count"}},
};
INSTANTIATE_TEST_SUITE_P(InTurn, RingFaults, testing::ValuesIn(kInTurn), test_name);

const PlantedKernel kSwapped{"matmul(m=13, n=200, k=328, bf16, has_residual=true)",
                             "y.tile(n, m, no, mo, ni, mi, 128, 16, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).swap_operands()\nc.compute_at(y, no)\n"
                             "c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kFewRows[] = {
    {"the operands change places", kSwapped, "map_B, full(s)", "map_A, full(s)", {"wrong numbers", "deadlock", "transaction count", "race"}},
    {"results are not turned", kSwapped, "stmatrix_x4_trans", "stmatrix_x4", {"wrong numbers", "uninitialised"}},
    {"a warp's columns are its neighbour's", kSwapped, "warp * 2 + lane / 8 % 2", "lane / 8 % 2", {"race", "uninitialised"}},
    {"rows of p are read by the other order", kSwapped, "Wgmma<TILE_Q, 1, 0>", "Wgmma<TILE_Q, 0, 0>", {"race", "wrong numbers"}},
    {"the residual is read beyond its end", kSwapped, "min(first_row + block * 8 + lane % 4 * 2 + 1, rows - 1)", "first_row + block * 8 + lane % 4 * 2 + 1", {"out of bounds"}},
    {"the residual of the row before", kSwapped, "(i64)next_row * columns + column", "(i64)row * columns + column", {"wrong numbers"}, {}},
};
INSTANTIATE_TEST_SUITE_P(Swapped, RingFaults, testing::ValuesIn(kFewRows), test_name);

const PlantedKernel kCodes{"matmul_fp8(m=100, n=136, k=656)",
                           "y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).persistent()\nc.compute_at(y, no)\n"
                           "c.update(0).split(k, ko, ki, 128).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kOfCodes[] = {
    {"sums of 128 terms are read while they are made", kCodes, "        wgmma_wait<0>();\n", "", {"accumulator", "race"}},
    {"sums of 128 terms are not begun anew", kCodes, "step != 0)", "1)", {"wrong numbers"}},
    {"only the last 128 terms count", kCodes, "acc[j] += part[j]", "acc[j] = part[j]", {"wrong numbers"}},
    {"sums of a tile are not begun anew", kCodes, "      for (int j = 0; j < 64; ++j) acc[j] = 0.0f;\n", "      for (int j = 0; j < 0; ++j) acc[j] = 0.0f;\n", {"wrong numbers"}},
    {"a stage is given back before it is read", kCodes, "        if (t == 0) mbar_arrive(empty(s));\n", "", {"race", "deadlock"},
     {{"        wgmma_fence();\n", "        if (t == 0) mbar_arrive(empty(s));\n        wgmma_fence();\n"}}},
    {"the scale of another row", kCodes, "min(first_row + warp * 16", "min(first_row + 1 + warp * 16", {"wrong numbers"}},
};

// Rounded to 16 bits it would hide for longer.
const PlantedKernel kLongCodes{"matmul_fp8(m=100, n=136, k=1040, f32)", kCodes.schedule};
const Planted kOfLongCodes[] = {
    {"promotion is left out", kLongCodes, "acc[j] += part[j]", "acc[j] = part[j]", {"wrong numbers"},
     {{"        float part[64];\n", ""}, {"      float acc[64];\n", "      float acc[64], part[64];\n"}, {"step != 0)", "k != 0 || step != 0)"}}},
};
const PlantedKernel kDeepCodes{"matmul_fp8(m=100, n=136, k=1296)",
                               "y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).persistent()\nc.compute_at(y, no)\n"
                               "c.update(0).split(k, ko, ki, 256).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kOfDeepCodes[] = {
    {"a group of terms is read while it is multiplied", kDeepCodes, "wgmma_wait<1>()", "wgmma_wait<2>()", {"accumulator", "race"}},
    {"the last group of terms is not waited for", kDeepCodes, "wgmma_wait<0>()", "wgmma_wait<1>()", {"accumulator", "race"}},
    {"two groups of terms are made at one place", kDeepCodes, "::mma(part[unit % 2]", "::mma(part[0]", {"accumulator", "race", "wrong numbers", "uninitialised"}},
    {"a group of terms is added twice", kDeepCodes, "+= part[(unit - 1) % 2][j]", "+= part[0][j]", {"accumulator", "race", "wrong numbers"}},
    {"each group takes the same terms", kDeepCodes, "wgmma_desc(q + unit * 16384", "wgmma_desc(q", {"wrong numbers"}},
};
INSTANTIATE_TEST_SUITE_P(DeepCodes, RingFaults, testing::ValuesIn(kOfDeepCodes), test_name);
INSTANTIATE_TEST_SUITE_P(LongCodes, RingFaults, testing::ValuesIn(kOfLongCodes), test_name);
INSTANTIATE_TEST_SUITE_P(Codes, RingFaults, testing::ValuesIn(kOfCodes), test_name);

const PlantedKernel kStoredCodes{"coded_product(m=100, n=208, k=328)",
                                 "y.tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).gpu_blocks(no, mo).warps(1, 1, cooperative)\nc.compute_at(y, no)\n"
                                 "c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const PlantedKernel kSwappedWide{"matmul(m=29, n=136, k=328, bf16, output=f32)",
                                 "y.tile(n, m, no, mo, ni, mi, 64, 32, GuardWithIf).gpu_blocks(no, mo).warps(1, 1, cooperative).swap_operands()\nc.compute_at(y, no)\n"
                                 "c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kPairs[] = {
    {"codes are not scaled", kStoredCodes, "return c_1 * inv_scale", "return c_1", {"wrong numbers"}, {}},
    {"the first code of a pair is zero", kStoredCodes, "return pack_e4m3(", "return pack_e4m3(0.0f * ", {"wrong numbers"}},
    {"codes lie in the other half of 16 bytes", kStoredCodes, "block % 2 * 8", "(1 - block % 2) * 8", {"wrong numbers"}},
    {"lines of codes are swizzled as longer ones", kStoredCodes, "line / 2 % 4", "line % 4", {"wrong numbers"}},
    {"both results lie in one line", kSwappedWide, "(line + 1) * 256", "line * 256", {"race", "uninitialised"}},
    {"the second result is the first", kSwappedWide, "two.w[1]", "two.w[0]", {"wrong numbers"}},
    {"columns of a warp are those of the first", kSwappedWide, "piece = warp * 4 + half * 2", "piece = half * 2", {"race", "uninitialised"}},
};
INSTANTIATE_TEST_SUITE_P(Pairs, RingFaults, testing::ValuesIn(kPairs), test_name);

const PlantedKernel kParts{"matmul(m=120, n=136, k=712, bf16)",
                           "y.tile(n, m, no, mo, ni, mi, 64, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\nc.compute_at(y, no)\n"
                           "c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 3).tensorize(ki, wgmma).split_reduction(ko, 2, fixed)\n"};
const Planted kInParts[] = {
    {"sums are added before they lie ready", kParts, "    cluster_sync();  // of those that multiply: it waits for nobody who has ended\n", "", {"race", "uninitialised"}},
    {"a block ends while its sums are read", kParts, "    cluster_sync();  // no block ends while another reads its sums\n", "", {"exited block"}},
    {"sums are stored over a ring that is still read", kParts, "    bar_sync(7, 256);\n", "", {"race"}},
    {"consumers leave their sums at one place", kParts, "(consumer * 4096 + t) * 4", "t * 4", {"race"}},
    {"a part is added twice", kParts, "mapa(shares, part)", "mapa(shares, 0)", {"wrong numbers"}},
    {"a part is left out", kParts, "for (int part = 1; part < 2; ++part)", "for (int part = 1; part < 1; ++part)", {"wrong numbers"}},
    {"a block beyond the cluster", kParts, "mapa(shares, part)", "mapa(shares, part + 1)", {"out of bounds"}},
    {"both take the same terms", kParts, "from = steps * rank / 2", "from = 0", {"wrong numbers"}},
    {"terms between the parts are lost", kParts, "to = steps * (rank + 1) / 2", "to = steps * (rank + 1) / 2 - 1", {"wrong numbers"}},
    {"the blocks of a cluster take different tiles", kParts, "place_of(blockIdx.x / 2", "place_of(blockIdx.x % 3", {"unwritten output", "race", "wrong numbers"}},
    {"both blocks store all", kParts, "% 2 != rank) continue;", "% 2 > 1) continue;", {"race"}},
    {"nobody stores the second share", kParts, "% 2 != rank) continue;", "% 2 != 0 || rank != 0) continue;", {"unwritten output"}},
};
INSTANTIATE_TEST_SUITE_P(Parts, RingFaults, testing::ValuesIn(kInParts), test_name);

}  // namespace
}  // namespace kiln::tests
