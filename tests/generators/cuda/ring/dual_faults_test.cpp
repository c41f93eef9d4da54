// Faults planted where a ring makes two products: a matrix in the other's place, its copies uncounted or over the other's, sums of the wrong product, a rounding
// left out; and where products are kernels of their own, one that does not wait for those before it.
#include <gtest/gtest.h>

#include "tests/generators/cuda/stream/planted.h"

namespace kiln::tests {
namespace {

class DualFaults : public testing::TestWithParam<Planted> {};

TEST_P(DualFaults, are_named) { expect_named(GetParam()); }

const PlantedKernel kColumns{"matmul_swiglu(m=150, n=136, k=328, bf16)",
                             "y.tile(n, m, no, mo, ni, mi, 64, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).persistent().raster(mo, 2)\n"
                             "gate_sum.compute_at(y, no)\ngate_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"
                             "up_sum.compute_at(y, no)\nup_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const char* const kCopyOfUp = "          tma_load(smem + AT_Q + s * Q_BYTES + 8192, &map_Wu, full(s), at.q, k * DEPTH, hint_q);\n";
const Planted kUnswapped[] = {
    {"the other weights are copied twice", kColumns, "&map_Wu, full(s)", "&map_Wg, full(s)", {"wrong numbers"}},
    {"the weights change places", kColumns, "&map_Wg, full(s)", "&map_Wu, full(s)", {"wrong numbers"}, {{"&map_Wu, full(s), at.q, k * DEPTH, hint_q);\n          if", "&map_Wg, full(s), at.q, k * DEPTH, hint_q);\n          if"}}},
    {"the second weights lie over the first", kColumns, "s * Q_BYTES + 8192", "s * Q_BYTES", {"race"}},
    {"the second weights are not copied", kColumns, kCopyOfUp, "", {"deadlock"}},
    {"the second weights are not waited for", kColumns, "mbar_expect_tx(full(s), P_BYTES + Q_BYTES)", "mbar_expect_tx(full(s), P_BYTES + 8192)", {"transaction"}},
    {"the second weights come to another stage", kColumns, "Q_BYTES + 8192, &map_Wu, full(s)", "Q_BYTES + 8192, &map_Wu, full(s ^ 1)", {"race", "deadlock", "transaction count", "uninitialised"}},
    {"the second weights of another step", kColumns, "&map_Wu, full(s), at.q, k * DEPTH", "&map_Wu, full(s), at.q, k * DEPTH + DEPTH", {"wrong numbers"}},
    {"the second weights of another tile", kColumns, "&map_Wu, full(s), at.q", "&map_Wu, full(s), at.q + 64", {"wrong numbers"}},
    {"the first product's sums twice", kColumns, "acc[j], acc[j + 32]", "acc[j], acc[j]", {"wrong numbers"}},
    {"the products change places", kColumns, "acc[j], acc[j + 32]", "acc[j + 32], acc[j]", {"wrong numbers"}},
    {"a neighbour's sums of the second product", kColumns, "acc[j + 1], acc[j + 33]", "acc[j + 1], acc[j + 32]", {"wrong numbers"}},
    {"tiles as wide as both products", kColumns, "return {p * TILE_P, q * TILE_Q};", "return {p * TILE_P, q * 2 * TILE_Q};", {"unwritten output"}},
};
INSTANTIATE_TEST_SUITE_P(Unswapped, DualFaults, testing::ValuesIn(kUnswapped), test_name);

const PlantedKernel kFewRows{"matmul_swiglu(m=13, n=200, k=328, bf16, weights=kn)",
                             "y.tile(n, m, no, mo, ni, mi, 128, 16, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).swap_operands()\n"
                             "gate_sum.compute_at(y, no)\ngate_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"
                             "up_sum.compute_at(y, no)\nup_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kSwapped[] = {
    {"the first weights twice", kFewRows, "&map_Wut, full(s)", "&map_Wgt, full(s)", {"wrong numbers"}},
    {"the second weights over those of the other consumer", kFewRows, "s * P_BYTES + 16384, &map_Wut", "s * P_BYTES + 8192, &map_Wut", {"race", "uninitialised"}},
    {"the second product of the other consumer's columns", kFewRows, "high * 2 * 8192", "high * 8192", {"wrong numbers"}},
    {"both consumers take the first columns", kFewRows, "s * P_BYTES + consumer * 8192", "s * P_BYTES", {"wrong numbers"}},
    {"both sums of one instruction", kFewRows, "acc[0][j], acc[1][j]", "acc[0][j], acc[0][j]", {"wrong numbers"}},
    {"a neighbour's second sum", kFewRows, "acc[0][j + 1], acc[1][j + 1]", "acc[0][j + 1], acc[1][j]", {"wrong numbers"}},
    {"only the first product is made", kFewRows, "for (int high = 0; high < 2; ++high)", "for (int high = 0; high < 1; ++high)", {"wrong numbers", "uninitialised", "accumulator"}},
};
INSTANTIATE_TEST_SUITE_P(Swapped, DualFaults, testing::ValuesIn(kSwapped), test_name);

const PlantedKernel kChain{"matmul_swiglu(m=70, n=136, k=200, bf16)",
                           "y.fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v).dependent_launch()\n"
                           "gate.compute_root().tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).gpu_blocks(no, mo).warps(1, 1, cooperative)\n"
                           "gate_sum.compute_at(gate, no)\ngate_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"
                           "up.compute_root().tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).gpu_blocks(no, mo).warps(1, 1, cooperative).dependent_launch()\n"
                           "up_sum.compute_at(up, no)\nup_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kInChains[] = {
    {"who reads both products does not wait for them", kChain, "  pdl_wait();\n  const i64 first", "  const i64 first", {"dependent launch"}},
    {"the first product is taken for both", kChain, "bf16_at(up_v.w, i)", "bf16_at(gate_v.w, i)", {"wrong numbers"}},
};

const PlantedKernel kLayer{"ffn(m=70, h=72, n=136, k=200, bf16)",
                           "y.tile(h, m, ho, mo, hi, mi, 64, 64, GuardWithIf).gpu_blocks(ho, mo).warps(1, 1, cooperative).dependent_launch()\n"
                           "down_sum.compute_at(y, ho)\ndown_sum.update(0).split(n, no, ni, 64).stage_in(no, shared, 2).tensorize(ni, wgmma)\n"
                           "hidden.compute_root().tile(n, m, no, mo, ni, mi, 64, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\n"
                           "gate_sum.compute_at(hidden, no)\ngate_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"
                           "up_sum.compute_at(hidden, no)\nup_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma)\n"};
const Planted kOfLayers[] = {
    {"the last product does not wait for its rows", kLayer, "  pdl_wait();\n\n  if (warpgroup == 0) {\n    if (t == 0)", "  if (warpgroup == 0) {\n    if (t == 0)", {"dependent launch"}},
    {"the rows are copied before they are waited for", kLayer, "  pdl_wait();\n\n  if (warpgroup == 0) {\n    if (t == 0)", "  if (warpgroup != 0) pdl_wait();\n  if (warpgroup == 0) {\n    if (t == 0)", {"dependent launch"}},
};
INSTANTIATE_TEST_SUITE_P(Layers, DualFaults, testing::ValuesIn(kOfLayers), test_name);

INSTANTIATE_TEST_SUITE_P(Chains, DualFaults, testing::ValuesIn(kInChains), test_name);

}  // namespace
}  // namespace kiln::tests
