#include "dsl/fetches.h"

#include "tests/dsl/verdicts.h"

namespace kiln::tests {
namespace {

TEST(FetchesTest, prefetches_ask_for_what_is_read_there) {
  expect_rows(of_product, {
      {"c.compute_root()\nc.update(0).reorder(n, m, k).prefetch(A, m, k).prefetch(B, n, n, 16, NonFaulting)", "legal"},
      {"c.compute_at(y, n)\ny.prefetch(A, n, n).prefetch(B, n, m, 2, Clamp)", "legal"},
      {"A.in().compute_root().prefetch(A, d0, d1)\nc.compute_root()\nc.update(0).prefetch(A.in(), k, k)", "legal"},
      {"y.prefetch(A, q, n)", "`y.prefetch(A, q, n)`: y has no loop 'q'; its loops are n, m"},
      {"y.prefetch(A, n, n, 0)", "`y.prefetch(A, n, n, 0)`: an offset is at least 1 iteration, found 0"},
      {"y.prefetch(z, n, n)", "`y.prefetch(z, n, n)`: there is no stage 'z', did you mean 'c'; the stages of product are A.in(), B.in(), c, y"},
      {"c.compute_root()\ny.prefetch(A, n, n)",
       "`y.prefetch(A, n, n)`: A is not read from memory that lasts inside loop 'n' of y; what is read so there: c"},
      {"c.compute_root()\nc.update(0).prefetch(A.in(), k, k)",
       "`c.update(0).prefetch(A.in(), k, k)`: A.in() is not read from memory that lasts inside loop 'k' of update(0) of c; what is read so there: A, B"},
      {"c.compute_root()\nA.in().compute_at(c, m)\nc.update(0).prefetch(A.in(), m, m)",
       "`c.update(0).prefetch(A.in(), m, m)`: A.in() is not read from memory that lasts inside loop 'm' of update(0) of c; what is read so there: A, B"},
      {"c.compute_root()\nA.in().compute_at(c, m)\nc.update(0).prefetch(A.in(), n, m).prefetch(A, m, m)", "legal"},
      {"c.compute_root()\nc.prefetch(A, n, n)", "`c.prefetch(A, n, n)`: A is not read from memory that lasts inside loop 'n' of c; what is read so there: none"},
      {"c.compute_root()\nc.update(0).prefetch(A, m, k)",
       "`c.update(0).prefetch(A, m, k)`: loop 'k' of update(0) of c runs inside 'm', so it has no next iteration to fetch for there; give the outer one last: "
       "prefetch(…, k, m)"},
      {"c.compute_root()\nc.update(0).prefetch(A, n, n).split(n, no, ni, 8)",
       "`c.update(0).prefetch(A, n, n)`: loop 'n' of update(0) of c was split, fused or renamed after it; say it after that"},
      {"c.compute_root()\nc.update(0).reorder(n, k, m).vectorize(n, 8).prefetch(B, n, n)", "legal"},
      {"c.compute_root()\nc.update(0).reorder(n, k, m).split(n, no, ni, 8).vectorize(ni).prefetch(B, ni, no)",
       "`c.update(0).prefetch(B, ni, no)`: 'ni' of update(0) of c is or lies inside the vectorized loop 'ni', where nothing is fetched ahead; name a loop "
       "outside it"},
      {"y.fuse(n, m, f).split(f, fo, fi, 8).prefetch(A, fi, fo)",
       "`y.prefetch(A, fi, fo)`: 'fi' of y runs over several fused loops, where the next iteration may be anywhere; name a loop that is not fused, or leave out "
       "the fusion"},
      {"c.compute_root()\nc.update(0).prefetch(A, k, k).prefetch(A, k, m, 2)",
       "`c.update(0).prefetch(A, k, m, 2)`: A is fetched at loop 'k' of update(0) of c already; say it once"},
  });
}

}  // namespace
}  // namespace kiln::tests
