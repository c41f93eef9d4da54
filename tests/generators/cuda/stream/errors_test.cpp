// What the stream skeleton cannot honour is refused, and the words say which requirement failed and what would do.
#include <gtest/gtest.h>

#include <functional>

#include "dsl/error.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/lower.h"
#include "tests/generators/cuda/stream/algorithms.h"
#include "tests/support/small_algorithms.h"

namespace kiln::tests {
namespace {

struct Refused {
  std::function<Algorithm()> algorithm;
  const char* problem;
  const char* schedule;
  const char* words;
};

std::string words_for(const Refused& one, const Capability& capability = {9, 0}) {
  const Algorithm algorithm = one.algorithm();
  try {
    generators::cuda::lower(algorithm, parse_schedule(one.schedule), resolve(parse_problem_text(one.problem), algorithm), capability);
  } catch (const ScheduleError& error) {
    return error.what();
  }
  return "accepted";
}

const std::vector<Refused>& all() {
  static const std::vector<Refused> kAll = {
      {gate, "gate(m=4, n=64)", "y.rows(1, 48)\n", "`y.rows(1, 48)`: a row is shared by whole warps: 32 threads or a multiple, found 48"},
      {gate, "gate(m=4, n=64)", "y.rows(16, 32)\n", "`y.rows(16, 32)`: a block takes 1 to 15 rows, found 16"},
      {gate, "gate(m=4, n=64)", "y.rows(1, 64).rows(1, 32)\n", "`y.rows(1, 32)`: rows is said of y already; say it once"},
      {gate, "gate(m=4, n=64)", "y.rows(1, 32).vector(6)\n", "`y.vector(6)`: one access takes 1, 2, 4, 8 or 16 elements, found 6"},
      {gate, "gate(m=4, n=64)", "y.rows(1, 32).blocks_per_sm(1)\n",
       "`y.blocks_per_sm(1)`: 2 to 32 blocks can be asked for, found 1; without the directive the compiler is free"},
      {gate, "gate(m=4, n=64)", "y.rows(1, 32).cluster(3)\n", "`y.cluster(3)`: a cluster has 2, 4 or 8 blocks, found 3"},
      {gate, "gate(m=4, n=64)", "y.rows(2, 32).cluster(2)\n", "y: a cluster shares one row, and rows(2, …) takes 2 in a block"},
      {gate, "gate(m=4, n=60)", "y.rows(1, 32).vector(8)\n", "y: rows of 60 elements are no multiple of vector(8)"},
      {gate, "gate(m=4, n=64)", "y.rows(1, 32).fix(m)\n", "y: fix(m) is not the loop along a row; that is 'n'"},
      {gate, "gate(m=4, n=65536)", "y.rows(1, 256).vector(8)\n",
       "y: each of 256 threads would keep 32 vectors of a row of 65536 elements; at most 16 stay in registers, so take 512 threads or more"},
      {shares, "shares(m=4, n=64)", "y.rows(1, 32).vector(16)\ntotal.compute_at(y, m)\npeak.compute_at(y, m)\n",
       "y: vectors of 16 elements would be accesses of 64 bytes; 32 bytes are the most, 8 elements"},
      {gate, "gate(m=4, n=64)", "y.parallel(m)\n",
       "`y.parallel(m)`: the CUDA back end has no place for parallel; it follows compute_…, split, tile, fuse, reorder, vectorize, unroll, gpu_blocks, gpu_threads, "
       "rows, dots, strips, vector, accesses, cluster, blocks_per_sm, fix, cache, dependent_launch, tensorize, stage_in, split_reduction, warps, swap_operands, "
       "store_through, persistent, raster, l2_promotion, evict"},
      {gate, "gate(m=4, n=64)", "y.rows(1, 32)\ngated.compute_at(y, m).rows(1, 32)\n",
       "`gated.rows(1, 32)`: gated is computed inside another kernel; say rows of a stage at root"},
      {gate, "gate(m=4, n=64)", "y.rows(1, 32).split(n, no, ni, 8)\n", "y: rows(…) spreads the loops itself; leave them as the algorithm has them"},
      {gate, "gate(m=40, n=64)", "y.fuse(n, m, i).split(i, b, i, 2048).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\n",
       "splitting 'i' of y by 2048 may leave a rest, which a kernel masks: write GuardWithIf"},
      {gate, "gate(m=4, n=64)", "y.fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, v, t, 256).reorder(v, t).gpu_blocks(b).gpu_threads(t).vectorize(v)\n",
       "y: threads next to each other must take vectors next to each other, and a block all between its first and last; fuse its loops into one, i, and write "
       "y.split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v), or y.rows(1, 256)"},
      {gate, "gate(m=4, n=64)", "y.vectorize(n, 8, GuardWithIf)\n",
       "y: its loops make no kernel over a line of elements; fuse its loops into one, i, and write y.split(i, b, i, 2048, GuardWithIf).split(i, t, v, "
       "8).gpu_blocks(b).gpu_threads(t).vectorize(v), or y.rows(1, 256)"},
      {norm, "norm(m=4, n=64)", "y.rows(1, 32)\nscale.compute_at(y, m)\n",
       "y cannot be made one kernel: squares would be summed anew for each element that reads it; give it compute_at(y, m) or compute_root()"},
      {norm, "norm(m=4, n=64)", "y.gpu_blocks(m).gpu_threads(n)\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n",
       "y: squares is summed over rows, so whole rows belong to a block: write y.rows(1, 256)"},
      {norm, "norm(m=4, n=64)", "y.fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\nscale.compute_root().rows(1, 32)\nsquares.compute_root().rows(1, 32)\n",
       "scale cannot be made one kernel: it asks for x.extent.0, which is the length of none of its loops"},
      {shift, "shift(m=4, n=64, w=65)", "y.rows(1, 32)\n",
       "y cannot be made one kernel: it reads x at (add i32 axis0 1); a kernel's operands are read at its own column and row"},
      {turn, "turn(m=64, n=64)", "y.rows(1, 32)\n", "y: x is read by columns, and rows(…) reads rows; tile both loops and spread them over blocks and threads"},
      {turn, "turn(m=62, n=64)",
       "y.tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).tile(ni, mi, nt, mt, nv, mv, 4, 4).gpu_blocks(no, mo).gpu_threads(nt, mt).vectorize(nv).unroll(mv)\n",
       "y: 'm' has 62 elements, no multiple of 4: rows would not start at 16 bytes"},
      {product, "product(m=64, n=64, k=64)", "y.rows(1, 32)\nc.compute_at(y, m)\n",
       "y cannot be made one kernel: c is computed at (y, m); in this kernel it can be computed at (y, n)"},
      {dot_by_columns, "dot_by_columns(m=1, n=64, k=63)", "y.strips(8, 32).accesses(4)\nc.compute_at(y, n)\n", "y: 'k' has 63 elements, no multiple of accesses(4)"},
      {dot_by_terms, "dot_by_terms(m=1, n=64, k=64)", "y.rows(1, 32)\nc.compute_at(y, n)\n",
       "y: c sums up terms for each element: write y.dots(2, 8, 1) where the terms are neighbours in memory, y.strips(8, 32) where the columns are"},
      {dot_by_terms, "dot_by_terms(m=1, n=64, k=64)", "y.strips(8, 32)\nc.compute_at(y, n)\n", "y: the neighbours in w are terms: write dots(2, 8, 1) instead"},
      {dot_by_columns, "dot_by_columns(m=1, n=64, k=64)", "y.dots(2, 8, 1)\nc.compute_at(y, n)\n", "y: the neighbours in w are columns: write strips(8, 32) instead"},
      {dot_by_terms, "dot_by_terms(m=9, n=64, k=64)", "y.dots(2, 8, 1)\nc.compute_at(y, n)\n",
       "y: 9 rows; 8 at most are summed at once, so that the weights are read once"},
      {dot_by_terms, "dot_by_terms(m=1, n=64, k=60)", "y.dots(2, 8, 1)\nc.compute_at(y, n)\n", "y: 'k' has 60 elements, no multiple of vector(8)"},
      {dot_by_terms, "dot_by_terms(m=1, n=64, k=64)", "y.dots(2, 8, 1)\nc.compute_at(y, m)\n",
       "y cannot be made one kernel: c is computed at (y, m); in this kernel it can be computed at (y, n)"},
      {dot_by_terms, "dot_by_terms(m=1, n=64, k=64)", "y.dots(2, 8, 8)\nc.compute_at(y, n)\n", "`y.dots(2, 8, 8)`: 8 teams of 8 warps are 2048 threads; a block has 1024 at most"},
      {gate, "gate(m=1, n=64)", "y.dots(2, 8, 1)\n", "y: dots runs sums of products for each element, of which there is none here"},
  };
  return kAll;
}

TEST(StreamErrors, say_what_was_asked_and_what_would_do) {
  for (const Refused& one : all()) EXPECT_EQ(words_for(one), one.words) << one.schedule;
}

TEST(StreamErrors, say_what_an_older_device_lacks) {
  const Refused dependent = {gate, "gate(m=4, n=64)", "y.rows(1, 32).dependent_launch()\n",
                             "y: dependent_launch() is for devices of compute capability 9.0 and newer, and this one has 8.0: leave it out"};
  const Refused cluster = {gate, "gate(m=4, n=64)", "y.rows(1, 32).cluster(2)\n",
                           "y: cluster(2) is for devices of compute capability 9.0 and newer, and this one has 8.9: leave it out"};
  EXPECT_EQ(words_for(dependent, {8, 0}), dependent.words);
  EXPECT_EQ(words_for(cluster, {8, 9}), cluster.words);
  for (const Refused& one : {dependent, cluster})
    for (const Capability& newer : {Capability{9, 0}, Capability{10, 0}}) EXPECT_EQ(words_for(one, newer), "accepted");
}

}  // namespace
}  // namespace kiln::tests
