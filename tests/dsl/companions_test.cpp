#include "dsl/companions.h"

#include "tests/dsl/verdicts.h"

namespace kiln::tests {
namespace {

TEST(CompanionsTest, shared_loops_are_the_same_in_both) {
  expect_rows(of_product, {
      {"A.in().compute_root()\nB.in().compute_root().compute_with(A.in(), d1)\nc.compute_root()", "legal"},
      {"A.in().compute_root().parallel(d1).vectorize(d0, 8)\nB.in().compute_root().parallel(d1).compute_with(A.in(), d1, AlignEnd)\nc.compute_root()", "legal"},
      {"c.compute_root()\nA.in().compute_at(c, k)\nB.in().compute_at(c, k).compute_with(A.in(), d0)", "legal"},
      {"A.in().compute_root()\nB.in().compute_with(A.in(), d1)\nc.compute_root()",
       "`B.in().compute_with(A.in(), d1)`: B.in() is inlined where it is read, so it has neither loops nor storage; give it compute_root() or compute_at(stage, "
       "loop)"},
      {"B.in().compute_root().compute_with(A.in(), d1)\nc.compute_root()",
       "`B.in().compute_with(A.in(), d1)`: A.in() is computed inline, so it has no loops of its own to share; give both the same compute_root() or "
       "compute_at(stage, loop)"},
      {"c.compute_root()\nA.in().compute_at(c, m)\nB.in().compute_root().compute_with(A.in(), d1)",
       "`B.in().compute_with(A.in(), d1)`: B.in() is computed at root and A.in() at loop 'm' of c; loops are shared at one place only"},
      {"c.compute_root().compute_with(y, m)",
       "`c.compute_with(y, m)`: y reads c, which must be complete before; only stages that do not need each other share loops, the others compute_at"},
      {"c.compute_root().compute_with(c.update(0), m)", "`c.compute_with(c.update(0), m)`: c cannot share loops with itself; name another stage"},
      {"B.in().compute_root().compute_with(c.update(1), d1)", "`B.in().compute_with(c.update(1), d1)`: c has 1 update: update(0)"},
      {"B.in().compute_root().compute_with(A.in(), q)", "`B.in().compute_with(A.in(), q)`: B.in() has no loop 'q'; its loops are d0, d1"},
      {"A.in().compute_root()\nB.in().compute_root().compute_with(A.in(), d1).split(d1, a, b, 4)",
       "`B.in().compute_with(A.in(), d1)`: B.in() has no loop 'd1', which both must have when everything is said"},
      {"A.in().compute_root().reorder(d1, d0)\nB.in().compute_root().compute_with(A.in(), d1)",
       "`B.in().compute_with(A.in(), d1)`: from 'd1' outwards B.in() has 1 loops and A.in() 2; they must be the same"},
      {"A.in().compute_root().rename(d1, e)\nB.in().compute_root().compute_with(A.in(), d0)",
       "`B.in().compute_with(A.in(), d0)`: 'd1' of B.in() would share its iterations with 'e' of A.in(); give the loops the same names in the same order"},
      {"A.in().compute_root().parallel(d1)\nB.in().compute_root().compute_with(A.in(), d1)",
       "`B.in().compute_with(A.in(), d1)`: loop 'd1' is serial in B.in() and parallel in A.in(); say the same of both"},
      {"A.in().compute_root().unroll(d1, 4)\nB.in().compute_root().split(d1, d1, di, 4).unroll(di).compute_with(A.in(), d1)", "legal"},
      {"A.in().compute_root().split(d1, d1, di, 4).unroll(di)\nB.in().compute_root().split(d1, d1, di, 4).unroll(di).compute_with(A.in(), di)",
       "`B.in().compute_with(A.in(), di)`: loop 'di' is unrolled, and only serial and parallel loops are shared; share a loop outside it"},
      {"A.in().compute_root().split(d1, d1, di, 8)\nB.in().compute_root().split(d1, d1, di, 4).compute_with(A.in(), d1)",
       "`B.in().compute_with(A.in(), d1)`: loop 'd1' of B.in() comes from other splits or another sort of loop than that of A.in(); split both alike"},
      {"A.in().compute_root().compute_with(B.in(), d1)\nB.in().compute_root().compute_with(A.in(), d1)",
       "`B.in().compute_with(A.in(), d1)`: A.in() already goes along with B.in(); let the one go along with the other, not both"},
      {"A.in().compute_root()\nB.in().compute_root().compute_with(A.in(), d1).compute_with(A.in(), d0)",
       "`B.in().compute_with(A.in(), d0)`: B.in() goes along with another definition already; say it once"},
      {"A.in().compute_root()\nB.in().compute_root().compute_with(A.in(), d1).specialize(A.dim(0).extent() >= 8)",
       "`B.in().compute_with(A.in(), d1)`: B.in() is specialized, and shared loops are the same in every call; leave out one of the two"},
      {"c.compute_root()\nA.in().compute_at(c, k).store_root()\nB.in().compute_at(c, k).compute_with(A.in(), d0)",
       "`B.in().compute_with(A.in(), d0)`: B.in() is stored at loop 'k' of c and A.in() at root; stages that share loops are stored at one place"},
      {"c.compute_root()\nA.in().compute_at(c, k).store_root()\nB.in().compute_at(c, k).store_root().compute_with(A.in(), d0)", "legal"},
  });
  expect_rows(of_reductions, {
      {"scan.compute_root()\ntotal.compute_root().compute_with(scan, x)",
       "`total.compute_with(scan, x)`: total reads scan, which must be complete before; only stages that do not need each other share loops, the others "
       "compute_at"},
  });
}

TEST(CompanionsTest, groups_of_shared_loops_come_in_some_order) {
  const Algorithm algorithm = tests::pairs();
  const auto of_pairs = [&](const std::string& schedule) { return verdict(algorithm, "pairs(w=16)", schedule); };
  EXPECT_EQ(of_pairs("a.compute_root()\nb.compute_root().compute_with(a, x)\na.update(0).compute_with(b.update(0), x)"),
            "`a.update(0).compute_with(b.update(0), x)`: b already goes along with a; let the one go along with the other, not both");
  EXPECT_EQ(of_pairs("a.compute_root()\nb.compute_root().compute_with(a, x)\nb.update(0).compute_with(a.update(0), x)"), "legal");
  EXPECT_EQ(of_pairs("a.compute_root()\nb.compute_root().compute_with(a.update(0), x)\nb.update(0).compute_with(a, x)"),
            "`b.update(0).compute_with(a, x)`: b goes along with update(0) of a and update(0) of b, which comes after it, with a; the later one must go along "
            "with a later one");
  EXPECT_EQ(of_pairs("a.compute_root()\nb.compute_root()\nd.compute_root().compute_with(a, x)\nc.compute_root().compute_with(b, x)"),
            "`c.compute_with(b, x)`: c and b cannot come at once: with the loops shared so far, a stage that needs the one is needed for the other; share those of "
            "one pair only");
  EXPECT_EQ(of_pairs("a.compute_root()\nb.compute_root().compute_with(a, x)\nc.compute_root()\nd.compute_root().compute_with(c, x)"), "legal");
  EXPECT_EQ(of_pairs("a.compute_root()\nb.compute_root().compute_with(a, x)\ninput.in(b).compute_at(b, x)"),
            "`input.in(b).compute_at(b, x)`: loop 'x' of b is that of a from here on, so input.in(b) has no place there; use a loop inside the shared ones or "
            "compute_root()");
  EXPECT_EQ(of_pairs("a.compute_root()\nb.compute_root().compute_with(a, x)\ninput.in(a).compute_at(a, x)"), "legal");
}

}  // namespace
}  // namespace kiln::tests
