// Faults planted in text that the emitters print, one edit each: a wait left out, a barrier of the wrong threads, a stride, a bound, an element lost, partial
// results combined in the wrong order. Whatever threads do first, the emulator or the comparison with the reference names it.
#include <gtest/gtest.h>

#include "tests/generators/cuda/stream/planted.h"

namespace kiln::tests {
namespace {

using Kernel = PlantedKernel;

class GeneratedFaults : public testing::TestWithParam<Planted> {};

TEST_P(GeneratedFaults, are_named) { expect_named(GetParam()); }

const Kernel kLine{"swiglu(m=7, n=333)", "y.fuse(n, m, i).split(i, b, i, 1024, GuardWithIf).split(i, t, v, 4).gpu_blocks(b).gpu_threads(t).vectorize(v)\n"};
const Kernel kLine2{"swiglu(m=3, n=1024)",
                    "y.fuse(n, m, i).split(i, b, i, 512, GuardWithIf).split(i, a, i, 256).split(i, t, v, 2).gpu_blocks(b).unroll(a).gpu_threads(t).vectorize(v).dependent_launch()\n"};
const Kernel kCodes{"swiglu_quant(m=3, n=272, bf16)", "y.fuse(n, m, i).split(i, b, i, 1024, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\n"};
const Planted kLines[] = {
    {"the last vector reaches past the end", kLine, "Vec<16> u_v;\n  if (first + 4 <= elements)", "Vec<16> u_v;\n  if (first < elements)", {"out of bounds"}},
    {"the last elements are left out", kLine, "for (i64 t = first; t < elements; ++t)", "for (i64 t = first; t < 0; ++t)", {"unwritten output"}},
    {"one element too many", kLine, "t < elements; ++t", "t <= elements; ++t", {"out of bounds"}},
    {"blocks overlap", kLine, "blockIdx.x * 1024", "blockIdx.x * 1020", {"race", "non-coherent", "wrong numbers"}},
    {"blocks leave a gap", kLine, "blockIdx.x * 1024", "blockIdx.x * 1028", {"unwritten output"}},
    {"threads take vectors between vectors", kLine, "threadIdx.x * 4;", "threadIdx.x * 2;", {"misaligned", "race"}},
    {"an element of a vector is lost", kLine, "for (int i = 0; i < 4; ++i) y_lanes[i]", "for (int i = 0; i < 3; ++i) y_lanes[i]", {"wrong numbers"}},
    {"operands change places", kLine, "y_value(f32_at(g_v.w, i), f32_at(u_v.w, i))", "y_value(f32_at(u_v.w, i), f32_at(g_v.w, i))", {"wrong numbers"}},
    {"an input is written", kLine, "store_stream<16, STORE_PLAIN>(y + first", "store_stream<16, STORE_PLAIN>((float*)g + first", {"read-only"}},
    {"accesses of a thread overlap its neighbour's", kLine2, "first + v * 256;\n    if (start + 2 <= elements) {\n      float", "first + v * 128;\n    if (start + 2 <= elements) {\n      float",
     {"race", "wrong numbers", "unwritten output"}},
    {"all accesses take the first vector", kLine2, "f32_at(g_v[v].w, i)", "f32_at(g_v[0].w, i)", {"wrong numbers"}},
    {"the kernel before is not waited for", kLine2, "  pdl_wait();\n", "", {"dependent launch"}},
    {"what the kernel writes is read as constant", kLine2, "store_stream<8, STORE_PLAIN>(y + start, y_v);", "store_stream<8, STORE_PLAIN>(y + start, y_v);\n      load_stream<8>(y + start);",
     {"non-coherent"}},
    {"codes are cut off instead of rounded", kCodes, "put_e4m3(y_v.w, y_lanes)", "put_8(y_v.w, y_lanes)", {"wrong numbers"}},
    {"half of the codes", kCodes, "store_stream<8, STORE_PLAIN>(y + first, y_v)", "store_stream<4, STORE_PLAIN>(y + first, (Vec<4>&)y_v)", {"unwritten output"}},
};
INSTANTIATE_TEST_SUITE_P(Lines, GeneratedFaults, testing::ValuesIn(kLines), test_name);

const Kernel kTeams{"rmsnorm(m=7, n=132)", "y.rows(2, 64).vector(4)\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n"};
const Planted kTeamsOfRows[] = {
    {"the last block takes a row too many", kTeams, "  if (row >= rows) return;\n", "", {"out of bounds"}},
    {"a row is left out", kTeams, "if (row >= rows)", "if (row >= rows - 1)", {"unwritten output"}},
    {"blocks take the same rows", kTeams, "blockIdx.x * 2 + team", "blockIdx.x + team", {"race", "unwritten output"}},
    {"the warps do not wait for each other", kTeams, "  bar_sync(barrier, 64);\n", "", {"race", "uninitialised"}},
    {"the barrier counts more threads than come", kTeams, "bar_sync(barrier, 64)", "bar_sync(barrier, 128)", {"deadlock", "barrier count", "race", "uninitialised"}},
    {"one lane of a warp does not come", kTeams, "bar_sync(barrier, 64)", "if (lane != 5) bar_sync(barrier, 64)", {"deadlock", "divergence", "race", "uninitialised"}},
    {"there is no such barrier", kTeams, "lane, 1 + team)", "lane, 15 + team)", {"barrier id"}},
    {"rows of a block share their slots", kTeams, "shared + team * 8", "shared", {"race"}},
    {"slots lie askew", kTeams, "slots + lane / 32 * 4", "slots + lane / 32 * 2", {"misaligned"}},
    {"a slot that nobody filled", kTeams, "slots + lane % 2 * 4", "slots + lane % 4 * 4", {"uninitialised", "out of bounds", "race"}},
    {"a warp's result is lost", kTeams, "slots + lane % 2 * 4", "slots", {"wrong numbers"}},
    {"every lane of a warp stores its result", kTeams, "if (lane % 32 == 0) st_shared", "st_shared", {"race"}},
    {"half of a warp is not added up", kTeams, "distance = 16;", "distance = 8;", {"wrong numbers"}},
    {"lanes are combined before they are complete", kTeams, "distance = 16; distance > 0; distance /= 2", "distance = 16; distance > 1; distance /= 2", {"wrong numbers"}},
    {"an element is left out of the sum", kTeams, "for (int i = 0; i < 4; ++i) squares", "for (int i = 1; i < 4; ++i) squares", {"wrong numbers"}},
    {"the sum starts from one", kTeams, "float squares = 0.0f;", "float squares = 1.0f;", {"wrong numbers"}},
    {"rows are a vector apart from where they are", kTeams, "(i64)row * columns", "(i64)row * (columns + 4)", {"out of bounds"}},
    {"an access between vectors", kTeams, "(x + start + column)", "(x + start + column + 1)", {"misaligned"}},
    {"the row's end is not looked at", kTeams, "Vec<16> gamma_v;\n  if (column < columns) {", "Vec<16> gamma_v;\n  if (true) {", {"out of bounds"}},
    {"the store reaches into the next row", kTeams, "if (column < columns) {\n    float y_lanes", "if (column <= columns) {\n    float y_lanes", {"race", "out of bounds"}},
    {"gamma of the next column", kTeams, "f32_at(gamma_v.w, i)", "f32_at(gamma_v.w, i ^ 1)", {"wrong numbers"}},
};
INSTANTIATE_TEST_SUITE_P(Teams, GeneratedFaults, testing::ValuesIn(kTeamsOfRows), test_name);

const Kernel kCluster{"softmax(m=2, n=2040)", "y.rows(1, 128).vector(4).cluster(4)\nscale.compute_at(y, m)\nsum.compute_at(y, m)\npeak.compute_at(y, m)\n"};
const Planted kClusters[] = {
    {"nobody knows that the others run", kCluster, "  cluster_wait();\n", "", {"race", "arrival count", "uninitialised", "deadlock"}},
    {"the cluster is awaited without arriving", kCluster, "  cluster_arrive();  // every block runs before its shared memory is written\n", "", {"arrival count"}},
    {"the blocks do not wait for the peak", kCluster, "fmaxf(v, shfl_xor(v, distance));\n  if (lane % 32 < 4) st_cluster(mapa(slots + (part * 4 + lane / 32) * 4, lane % 32), v);\n  cluster_sync();\n",
     "fmaxf(v, shfl_xor(v, distance));\n  if (lane % 32 < 4) st_cluster(mapa(slots + (part * 4 + lane / 32) * 4, lane % 32), v);\n", {"race", "uninitialised"}},
    {"the blocks do not wait for the sum", kCluster, "v + shfl_xor(v, distance);\n  if (lane % 32 < 4) st_cluster(mapa(slots + (part * 4 + lane / 32) * 4, lane % 32), v);\n  cluster_sync();\n",
     "v + shfl_xor(v, distance);\n  if (lane % 32 < 4) st_cluster(mapa(slots + (part * 4 + lane / 32) * 4, lane % 32), v);\n", {"race", "uninitialised", "exited block"}},
    {"one block is not told", kCluster, "fmaxf(v, shfl_xor(v, distance));\n  if (lane % 32 < 4)", "fmaxf(v, shfl_xor(v, distance));\n  if (lane % 32 < 3)", {"uninitialised"}},
    {"a block beyond the cluster is told", kCluster, "fmaxf(v, shfl_xor(v, distance));\n  if (lane % 32 < 4)", "fmaxf(v, shfl_xor(v, distance));\n  if (lane % 32 < 5)", {"out of bounds"}},
    {"the blocks' results meet in one block's slots", kCluster, "fmaxf(v, shfl_xor(v, distance));\n  if (lane % 32 < 4) st_cluster(mapa(slots + (part * 4 + lane / 32) * 4",
     "fmaxf(v, shfl_xor(v, distance));\n  if (lane % 32 < 4) st_cluster(mapa(slots + (lane / 32) * 4", {"race"}},
    {"peak and sum share their slots", kCluster, "shared + 64", "shared", {"race"}},
    {"slots beyond the shared memory", kCluster, "shared + 64", "shared + 128", {"out of bounds"}},
    {"the sum is combined as the largest", kCluster, "v + shfl_xor(v, distance);\n  return v;", "fmaxf(v, shfl_xor(v, distance));\n  return v;", {"wrong numbers"}},
    {"the sum is taken before the peak is known", kCluster, "  peak = largest_of_row(peak, shared, lane, part);\n", "",
     {"wrong numbers"}, {{"  sum_1 = sum_of_row(sum_1, shared + 64, lane, part);\n", "  sum_1 = sum_of_row(sum_1, shared + 64, lane, part);\n  peak = largest_of_row(peak, shared, lane, part);\n"}}},
    {"the blocks take the same part of the row", kCluster, "(part * 128 + lane) * 4", "lane * 4", {"race", "unwritten output"}},
    {"every block takes a row", kCluster, "blockIdx.x / 4", "blockIdx.x", {"out of bounds", "uninitialised"}},
};
INSTANTIATE_TEST_SUITE_P(Clusters, GeneratedFaults, testing::ValuesIn(kClusters), test_name);

const Kernel kTurned{"transpose(m=140, n=76)",
                     "y.tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).tile(ni, mi, nt, mt, nv, mv, 4, 4).gpu_blocks(no, mo).gpu_threads(nt, mt).vectorize(nv).unroll(mv)\n"};
const Planted kTiles[] = {
    {"a tile is read before it is whole", kTurned, "  __syncthreads();\n", "", {"race", "uninitialised"}},
    {"it is stored without the swizzle", kTurned, "(across ^ below % 8) * 16", "across * 16", {"wrong numbers"}},
    {"it is read by another swizzle", kTurned, "(unit ^ line / 4 % 8) * 16", "(unit ^ line % 8) * 16", {"wrong numbers"}},
    {"lines of a tile overlap", kTurned, "(below * 4 + i) * 256", "(below * 4 + i) * 128", {"race", "uninitialised"}},
    {"lines beyond the shared memory", kTurned, "(below * 4 + i) * 256", "(below * 4 + i) * 272", {"out of bounds"}},
    {"squares are not turned", kTurned, "turn_32(lines, turned);", "for (int i = 0; i < 4; ++i) turned[i] = lines[i];", {"wrong numbers"}},
    {"tiles overlap", kTurned, "% ((columns + 63) / 64) * 64", "% ((columns + 63) / 64) * 32", {"race", "unwritten output"}},
    {"the matrix's edge is not looked at", kTurned, "if (row < rows && column < columns) {\n#pragma unroll", "if (row < rows) {\n#pragma unroll", {"out of bounds", "uninitialised"}},
    {"the last line of a square is lost", kTurned, "for (int i = 0; i < 4; ++i) st_shared", "for (int i = 0; i < 3; ++i) st_shared", {"uninitialised"}},
    {"rows and columns change places", kTurned, "(i64)row * columns + column", "(i64)column * rows + row", {"misaligned", "wrong numbers", "race", "out of bounds"}},
};
INSTANTIATE_TEST_SUITE_P(Turned, GeneratedFaults, testing::ValuesIn(kTiles), test_name);

const Kernel kDots{"matvec(m=2, n=37, k=2088, bf16, weights=kn)", "y.dots(2, 4, 2).accesses(2)\nc.compute_at(y, n)\n"};
const Planted kDotProducts[] = {
    {"the warps of a team do not wait", kDots, "  __syncthreads();\n", "", {"race", "uninitialised"}},
    {"a column too many", kDots, "term < terms && first + c < columns", "term < terms", {"out of bounds"}},
    {"terms beyond the row", kDots, "      if (term < terms) {\n", "      {\n", {"out of bounds"}},
    {"every warp takes all terms", kDots, "base = share * 512", "base = 0", {"wrong numbers"}},
    {"every second round is left out", kDots, "base += 2048", "base += 4096", {"wrong numbers"}},
    {"lanes take overlapping terms", kDots, "(v * 32 + lane) * 8;\n#pragma unroll", "(v * 16 + lane) * 8;\n#pragma unroll", {"wrong numbers"}},
    {"the lanes of a warp are not added up", kDots, "sums[r][c] = sum_of_warp(sums[r][c])", "sums[r][c] = sums[r][c]", {"wrong numbers"}},
    {"every lane stores the warp's sum", kDots, "if (lane == 0)", "if (lane < 2)", {"race"}},
    {"a warp's share is lost", kDots, "for (int s = 0; s < 4; ++s)", "for (int s = 0; s < 3; ++s)", {"wrong numbers"}},
    {"shares of the next team", kDots, "(of * 4 + s) * 4 + at", "(of * 4 + s) * 8 + at", {"out of bounds", "uninitialised"}},
    {"the teams take the same columns", kDots, "(blockIdx.x * 2 + team) * 2", "(blockIdx.x * 2) * 2", {"wrong numbers"}},
    {"rows beyond the last", kDots, "if (row < rows && column < columns)", "if (column <= columns)", {"race", "out of bounds"}},
};
INSTANTIATE_TEST_SUITE_P(Dots, GeneratedFaults, testing::ValuesIn(kDotProducts), test_name);

const Kernel kStrips{"matvec(m=1, n=136, k=520, bf16)", "y.strips(8, 32).accesses(4).cluster(2)\nc.compute_at(y, n)\n"};
const Planted kStripsOfColumns[] = {
    {"the groups do not wait for each other", kStrips, "  __syncthreads();\n", "", {"race", "uninitialised"}},
    {"the blocks do not wait for each other", kStrips, "  cluster_sync();\n", "", {"race", "uninitialised"}},
    {"a block leaves while its sums are read", kStrips, "  cluster_sync();  // nobody leaves while its shared memory is read\n", "", {"exited block"}},
    {"its own sum twice instead of the other block's", kStrips, "mapa(of_block + t * 4, b)", "mapa(of_block + t * 4, part)", {"wrong numbers"}},
    {"a block beyond the cluster", kStrips, "mapa(of_block + t * 4, b)", "mapa(of_block + t * 4, b + 1)", {"out of bounds"}},
    {"groups store over each other", kStrips, "(group * 1 + r) * 64", "(group * 1 + r) * 32", {"race"}},
    {"a group's sum is lost", kStrips, "for (int g = 0; g < 32; ++g)", "for (int g = 1; g < 32; ++g)", {"wrong numbers"}},
    {"columns beyond the last", kStrips, "if (start + lane * 8 < columns)", "if (start + lane * 8 <= columns)", {"out of bounds"}},
    {"the block's sums lie over the groups'", kStrips, "shared + 8192", "shared + 4", {"race"}},
    {"the last terms are left out", kStrips, "base < terms;", "base + 4 < terms;", {"wrong numbers"}},
    {"both blocks take the same terms", kStrips, "(part * 32 + group) * 4", "group * 4", {"wrong numbers"}},
    {"a row of weights apart", kStrips, "(i64)(base + v) * columns", "(i64)(base + v + 1) * columns", {"out of bounds", "wrong numbers"}},
};
INSTANTIATE_TEST_SUITE_P(Strips, GeneratedFaults, testing::ValuesIn(kStripsOfColumns), test_name);

}  // namespace
}  // namespace kiln::tests
