// Planted faults: one edit of a right kernel each. Under four seeds, which cover the four ways in which asynchronous operations are mixed with threads, at
// least one reports it, and all that report use a word that names it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "subjects.h"

namespace kiln::generators::cuda::emulator {
namespace {

struct Planted {
  const char* what;
  Subject (*subject)();
  const char *from, *to;
  std::set<std::string> words;
  // More edits of the same fault.
  std::vector<std::pair<const char*, const char*>> also = {};
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.what; }

class Faults : public testing::TestWithParam<Planted> {};

TEST_P(Faults, are_reported) {
  const Planted& planted = GetParam();
  const Subject subject = planted.subject();
  std::string text = replaced(text_of(subject), planted.from, planted.to);
  for (const auto& [from, to] : planted.also) text = replaced(text, from, to);
  const Compiled kernel(text, subject.kernel);
  int caught = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Outcome result = outcome(subject, kernel, seed);
    if (result.word == "right") continue;
    ++caught;
    EXPECT_TRUE(planted.words.contains(result.word)) << planted.what << ", seed " << seed << ": " << result.word << ": " << result.text;
  }
  EXPECT_GT(caught, 0) << planted.what;
}

std::string test_name(const testing::TestParamInfo<Planted>& param) {
  std::string name = param.param.what;
  std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

const Planted kRing[] = {
    {"the consumer does not wait for full", ring, "        mbar_wait(full(s), phase);\n", "", {"race", "uninitialised"}},
    {"only one lane waits for full", ring, "mbar_wait(full(s), phase);", "if (lane == 0) mbar_wait(full(s), phase);", {"race", "uninitialised"}},
    {"the producer does not wait for empty", ring, "          mbar_wait(empty(s), phase ^ 1);\n", "", {"arrival count", "race", "transaction"}},
    {"wrong parity at full", ring, "mbar_wait(full(s), phase);", "mbar_wait(full(s), phase ^ 1);", {"deadlock", "race", "uninitialised"}},
    {"wrong parity at empty", ring, "mbar_wait(empty(s), phase ^ 1);", "mbar_wait(empty(s), phase);", {"deadlock"}},
    {"the phase never flips", ring, "previous = s;\n        if (++s == STAGES) { s = 0; phase ^= 1; }", "previous = s;\n        if (++s == STAGES) { s = 0; }", {"deadlock", "race"}},
    {"a parity that is no parity", ring, "mbar_wait(full(s), phase);", "mbar_wait(full(s), phase + 2);", {"parity"}},
    {"released before the wgmma is done", ring, "wgmma_wait<1>();", "wgmma_wait<2>();", {"race", "deadlock"}},
    {"the stage in use is released", ring, "if (k != 0) release(previous);", "release(s);", {"race", "deadlock"}},
    {"the last stage of a tile is not released", ring, "wgmma_wait<0>();\n      release(previous);", "wgmma_wait<0>();", {"deadlock"}},
    {"empty expects an arrival too many", ring, "mbar_init(empty(s), 1);", "mbar_init(empty(s), 2);", {"deadlock"}},
    {"too many arrivals for an mbarrier", ring, "mbar_init(empty(s), 1);", "mbar_init(empty(s), 1 << 20);", {"arrival count"}},
    {"more bytes are expected than come", ring, "P_BYTES + Q_BYTES);", "P_BYTES + Q_BYTES + 1024);", {"deadlock"}},
    {"fewer bytes are expected than come", ring, "P_BYTES + Q_BYTES);", "P_BYTES + Q_BYTES - 1024);", {"deadlock", "transaction", "race"}},
    {"wgmma_fence is missing", ring, "        wgmma_fence();\n", "", {"wgmma.fence"}},
    {"wgmma_commit is missing", ring, "        wgmma_commit();\n", "", {"race", "accumulator"}},
    {"the last wgmma_wait is missing", ring, "wgmma_wait<0>();\n      release(previous);", "release(previous);", {"race", "accumulator"}},
    {"the threads disagree about a wgmma", ring, "k != 0 || step != 0);", "lane != 0 && (k != 0 || step != 0));", {"divergence"}},
    {"more registers than the pool has", ring, "regs_grow<216>();", "regs_grow<224>();", {"deadlock"}},
    {"the producer gives no registers back", ring, "    regs_shrink<40>();\n", "", {"deadlock"}},
    {"registers that are no multiple of 8", ring, "regs_grow<216>();", "regs_grow<214>();", {"registers"}},
    {"bar_sync under a lane condition", ring, "bulk_wait_read<BUFFERS - 1>();\n        bar_sync(1, 128);", "bulk_wait_read<BUFFERS - 1>();\n        if (lane != 5) bar_sync(1, 128);", {"deadlock", "race"}},
    {"counts of a bar_sync differ", ring, "bulk_wait_read<BUFFERS - 1>();\n        bar_sync(1, 128);", "bulk_wait_read<BUFFERS - 1>();\n        bar_sync(1, t < 32 ? 128 : 256);", {"barrier count"}},
    {"there is no such barrier", ring, "bulk_wait_read<BUFFERS - 1>();\n        bar_sync(1, 128);", "bulk_wait_read<BUFFERS - 1>();\n        bar_sync(16, 128);", {"barrier id"}},
    {"stmatrix under a lane condition", ring, "          stmatrix_x4(", "          if (lane < 24) stmatrix_x4(", {"deadlock", "divergence"}},
    {"the proxy fence is missing", ring, "        fence_async_proxy();\n", "", {"unfenced"}},
    {"one thread alone makes the proxy fence", ring, "        fence_async_proxy();\n", "        if (t == 0) fence_async_proxy();\n", {"unfenced"}},
    {"the proxy fence comes after the barrier", ring, "        fence_async_proxy();\n        bar_sync(1, 128);\n        if (t == 0) {", "        bar_sync(1, 128);\n        fence_async_proxy();\n        if (t == 0) {", {"unfenced"}},
    {"the fence after mbar_init is missing", ring, "    fence_mbar_init();\n", "", {"unfenced"}},
    {"the barrier after mbar_init is missing", ring, "  __syncthreads();\n", "", {"no mbarrier", "race"}},
    {"the barrier before the store is missing", ring, "        fence_async_proxy();\n        bar_sync(1, 128);\n", "        fence_async_proxy();\n", {"race"}},
    {"nobody waits until a store buffer is read", ring, "        if (t == 0) bulk_wait_read<BUFFERS - 1>();\n", "", {"race"}},
    {"the wait for a store buffer is one too lax", ring, "bulk_wait_read<BUFFERS - 1>();", "bulk_wait_read<BUFFERS>();", {"race"}},
    {"the barrier after that wait is missing", ring, "bulk_wait_read<BUFFERS - 1>();\n        bar_sync(1, 128);", "bulk_wait_read<BUFFERS - 1>();", {"race", "uninitialised"}},
    {"the store is not committed", ring, "          bulk_commit();\n", "", {"uncommitted"}},
    {"the last stores are not waited for", ring, "    if (t == 0) bulk_wait_all();\n", "", {"store in flight"}},
    {"a descriptor starts inside the swizzle", ring, "wgmma_desc(smem + s * P_BYTES + step * 32, 16)", "wgmma_desc(smem + s * P_BYTES + 128 + step * 32, 16)", {"misaligned"}},
    {"the second operand lies askew", ring, "smem + AT_Q + s * Q_BYTES, &map_w", "smem + AT_Q + s * Q_BYTES + 512, &map_w", {"misaligned"}},
    {"a ring too long for the shared memory", ring, "STAGES = 3", "STAGES = 4", {"out of bounds"}},
    {"buffers over barriers", ring, "AT_FULL = AT_STORE + BUFFERS * STORE_BYTES", "AT_FULL = AT_STORE", {"barrier overwritten"}},
    {"an mbarrier is initialised twice", ring, "mbar_init(empty(s), 1);", "mbar_init(empty(s), 1); mbar_init(empty(s), 1);", {"barrier overwritten"}},
    {"a store to an input", ring, "tma_store(&map_c,", "tma_store(&map_x,", {"read-only"}},
    {"a chunk is not stored", ring, "c < TILE_N / 64", "c < 1", {"unwritten output"}},
    {"the store is not swizzled", ring, "((chunk ^ row % 8) << 4)", "(chunk << 4)", {"wrong numbers"}},
    {"the accumulator is not cleared", ring, "k != 0 || step != 0)", "1)", {"wrong numbers"}},
    {"the last block of k is left out", ring, "blocks_k = (K + DEPTH - 1) / DEPTH", "blocks_k = K / DEPTH", {"wrong numbers"}},
};
INSTANTIATE_TEST_SUITE_P(Ring, Faults, testing::ValuesIn(kRing), test_name);

const Planted kClusters[] = {
    {"the first cluster_sync is missing", multicast, "  cluster_sync();  // the other block's barriers are initialised\n", "  __syncthreads();\n", {"no mbarrier", "race", "unfenced"}},
    {"the last cluster_sync is missing", multicast, "  cluster_sync();  // nobody leaves while the other may still signal it\n", "", {"exited block"}},
    {"empty counts the own block only", multicast, "mbar_init(empty(s), 2);", "mbar_init(empty(s), 1);", {"race", "arrival count", "deadlock", "transaction"}},
    {"a stage is released to the own block only", multicast, "if (t < 2) mbar_arrive_remote(empty(s), t);", "if (t == rank) mbar_arrive_remote(empty(s), t);", {"deadlock"}},
    {"the mask leaves the other block out", multicast, "rank * 32, 3, HINT_NORMAL", "rank * 32, 1 << rank, HINT_NORMAL", {"deadlock"}},
    {"the mask names a block that is not there", multicast, "rank * 32, 3, HINT_NORMAL", "rank * 32, 7, HINT_NORMAL", {"out of bounds"}},
    {"both blocks load the same half", multicast, "AT_Q + s * BYTES + rank * (BYTES / 2)", "AT_Q + s * BYTES", {"race"}},
    {"a block reads its neighbour's sum too early", moves, "  cluster_sync();\n  if (lane == 0) neighbour", "  if (lane == 0) neighbour", {"race", "uninitialised"}},
    {"a block leaves while its neighbour reads", moves, "  cluster_sync();  // nobody leaves while the other still reads\n", "", {"exited block"}},
    {"a barrier of the cluster is awaited without arriving", row_softmax, "  cluster_arrive();  // the partner runs before its shared memory is written\n", "", {"arrival count"}},
    {"the parts of a row meet in one array", row_softmax, "smem + SLOTS * 4, rank", "smem, rank", {"race"}},
    {"a neighbour's address without ld_cluster", moves, "ld_cluster(mapa(s + 512, cluster_rank() ^ 1))", "ld_shared<float>(mapa(s + 512, cluster_rank() ^ 1))", {"out of bounds"}},
    {"a neighbour beyond the cluster", moves, "cluster_rank() ^ 1)", "cluster_rank() + 1)", {"out of bounds"}},
};
INSTANTIATE_TEST_SUITE_P(Clusters, Faults, testing::ValuesIn(kClusters), test_name);

const Planted kGlobal[] = {
    {"the writers make no fence", split, "  __threadfence();\n  __syncthreads();\n  if (t == 0) {\n", "  __syncthreads();\n  if (t == 0) {\n", {"race"}},
    {"the reader makes no fence", split, "    __threadfence();\n    *flag = last;", "    *flag = last;", {"race"}},
    {"the barrier before the counter is missing", split, "  __threadfence();\n  __syncthreads();\n  if (t == 0) {\n", "  __threadfence();\n  if (t == 0) {\n", {"race", "uninitialised"}},
    {"the barrier after the flag is missing", split, "  }\n  __syncthreads();\n  if (!*flag)", "  }\n  if (!*flag)", {"race", "uninitialised"}},
    {"the wrong number of parts", split, "(u32)parts - 1;", "(u32)parts;", {"unwritten output", "counter left over", "race"}},
    {"the counter is not reset", split, "    if (last) *counter = 0;", "", {"counter left over"}},
    {"two parts share a slot", split, "workspace + blockIdx.x * 64 + t, x", "workspace + t, x", {"race"}},
    {"past the end of the workspace", split, "workspace + blockIdx.x * 64 + t, x", "workspace + blockIdx.x * 64 + t + 64, x", {"out of bounds", "uninitialised"}},
    {"the turn skips a block", turnstile, "st_release(turn, blockIdx.x + 1);", "st_release(turn, blockIdx.x + 2);", {"livelock"}},
    {"a loop on a plain load", turnstile, "while (ld_acquire(turn) != blockIdx.x) {}", "while (*(volatile u32*)turn != blockIdx.x) {}", {"livelock", "race"}},
    {"the total is touched after the release", turnstile, "    st_release(turn, blockIdx.x + 1);\n", "    st_release(turn, blockIdx.x + 1);\n    total[0] += 0;\n", {"race"}},
    {"past the end of the total", turnstile, "total[0] += 1.f / (blockIdx.x + 1);", "total[blockIdx.x] += 1.f / (blockIdx.x + 1);", {"out of bounds"}},
    {"x is read before the kernel before has ended", dependent, "  pdl_wait();\n", "  const float early = x[threadIdx.x];\n  pdl_wait();\n", {"dependent launch"}, {{"weight + x[threadIdx.x]", "weight + early"}}},
    {"y is written without a wait", dependent, "  pdl_wait();\n", "", {"dependent launch"}},
    {"load_stream of what the kernel writes", map_ring, "  if (t == 0) bulk_wait_all();\n", "  if (t == 0) {\n    bulk_wait_all();\n    load_stream<16>(out + blockIdx.x * CHUNK);\n  }\n", {"non-coherent"}, {{"#include \"numbers.cuh\"", "#include \"numbers.cuh\"\n#include \"streams.cuh\""}}},
    {"a misaligned load_stream", matvec, "load_stream<16>(x + g * K + k)", "load_stream<16>(x + g * K + k + 1)", {"misaligned"}},
    {"a misaligned plain load", moves, "sums[row] = v;", "sums[row] = v + *(const float*)(x + 1);", {"misaligned"}},
};
INSTANTIATE_TEST_SUITE_P(Global, Faults, testing::ValuesIn(kGlobal), test_name);

const Planted kCopies[] = {
    {"cp_async is not waited for", moves, "  cp_async_wait<0>();\n", "", {"race"}},
    {"cp_async is not committed", moves, "  cp_async_commit();\n", "", {"uncommitted"}},
    {"other lanes' cp_async is not waited for", moves, "  __syncwarp();\n", "", {"race", "uninitialised"}},
    {"the bulk load is not waited for", map_ring, "    mbar_wait(full(stage), parity);\n", "", {"race", "uninitialised"}},
    {"a stage is filled again too early", map_ring, "    __syncthreads();                            // frees the input stage and publishes the output at once\n", "", {"race", "unfenced", "uninitialised"}},
    {"the bulk store has no proxy fence", map_ring, "    fence_async_proxy();\n", "", {"unfenced"}},
    {"the bulk store's buffers are used too early", map_ring, "bulk_wait_read<BUFFERS - 2>();", "bulk_wait_read<BUFFERS - 1>();", {"race"}},
    {"a bulk copy of 8 bytes too many", map_ring, "x + chunk * CHUNK, BYTES, full(stage)", "x + chunk * CHUNK, BYTES + 8, full(stage)", {"misaligned"}},
    {"a bulk load past the end", map_ring, "x + chunk * CHUNK, BYTES", "x + (chunk + 1) * CHUNK, BYTES", {"out of bounds"}},
    {"the turn is not given", turns, "bar_arrive(2 + (warp ^ 1), 64);", "{}", {"deadlock"}},
    {"nobody begins", turns, "  if (warp == 1) bar_arrive(2, 64);  // warp 0 goes first\n", "", {"deadlock"}},
    {"both warps take turns at one barrier", turns, "bar_sync(2 + warp, 64);", "bar_sync(2, 64);", {"race", "deadlock", "uninitialised"}},
    {"shared memory beyond the launch", turns, "lane * 4;", "lane * 4 + 4;", {"out of bounds"}},
    {"a misaligned shared address", turns, "lane * 4;", "lane * 3;", {"misaligned"}},
    {"a value that was never stored", turns, "  if (warp == 0) st_shared<u32>(word, 0);\n", "", {"uninitialised"}},
    {"locals too large for a fiber", turns, "  const int warp", "  volatile float large[14000];\n  large[0] = 1;\n  const int warp", {"stack"}},
};
INSTANTIATE_TEST_SUITE_P(Copies, Faults, testing::ValuesIn(kCopies), test_name);

}  // namespace
}  // namespace kiln::generators::cuda::emulator
