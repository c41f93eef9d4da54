// rfactor: dsl/factoring.
#include "tests/dsl/verdicts.h"

namespace kiln::tests {
namespace {

TEST(FactoringTest, partial_sums_have_a_stage_of_their_own) {
  expect_rows(of_product, {
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u).parallel(m).vectorize(n, 8)\n"
       "c_intm.compute_at(c, m).vectorize(n, 8)\nc_intm.update(0).reorder(n, u, ki).vectorize(n, 8).unroll(u, 2)",
       "legal"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ki, u)\nc_intm.compute_root()\nc_intm.update(0).reorder(u, ko, n, m).vectorize(u)", "legal"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u)\nc_intm.compute_root()\nA.in(c_intm).compute_at(c_intm, u)\nc_intm.in().compute_at(c, ko)",
       "legal"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 8).split(ki, kj, kk, 2).rfactor(ko, u, kj, v)\nc_intm.compute_root().reorder(v, u, n, m)", "legal"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 8).rfactor(ko, u).split(ko, kp, kq, 2).rfactor(kp, u)\n"
       "c_intm.compute_root()\nc_intm#2.compute_root()",
       "legal"},
      {"c.compute_root()\nc_intm.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u)",
       "`c_intm.compute_root()`: 'c_intm' is made by `c.update(0).rfactor(ko, u)`, which must stand above"},
      {"c.compute_root()\nc_intm.compute_root()", "`c_intm.compute_root()`: there is no stage 'c_intm'; the stages of product are A.in(), B.in(), c, y"},
      {"c.compute_root().rfactor(n, u)", "`c.rfactor(n, u)`: rfactor belongs to an update; write c.update(0).rfactor(…)"},
      {"y.rfactor(n, u)", "`y.rfactor(n, u)`: y has no updates; rfactor belongs to one"},
      {"c.compute_root()\nc.update(0).rfactor(n, u)", "`c.update(0).rfactor(n, u)`: 'n' is a pure loop; only reduction loops hold partial sums"},
      {"c.compute_root()\nc.update(0).rfactor(q, u)", "`c.update(0).rfactor(q, u)`: update(0) of c has no loop 'q'; its loops are k, n, m"},
      {"c.compute_root()\nc.update(0).rfactor(k, u)",
       "`c.update(0).rfactor(k, u)`: no reduction loop would be left for the partial sums, each of which would hold one term; split 'k' and name the outer part"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, n)",
       "`c.update(0).rfactor(ko, n)`: update(0) of c has a loop 'n' already; choose another name"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u.x)",
       "`c.update(0).rfactor(ko, u.x)`: 'u.x' cannot name a new loop; write one word of letters, digits and _"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u, ko, v)", "`c.update(0).rfactor(ko, u, ko, v)`: 'ko' is named twice"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u, ki, u)",
       "`c.update(0).rfactor(ko, u, ki, u)`: two new loops would be called 'u'; give them different names"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).vectorize(n, 8).rfactor(ko, u)",
       "`c.update(0).rfactor(ko, u)`: a loop of update(0) of c is vectorized already; factor it first, then say how its loops run"},
      {"c.compute_root()\nc.update(0).atomic().split(k, ko, ki, 4).rfactor(ko, u)",
       "`c.update(0).rfactor(ko, u)`: it is said already how update(0) of c runs; factor it first"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).specialize(A.dim(0).extent() >= 8).rfactor(ko, u)",
       "`c.update(0).specialize(A.dim(0).extent() >= 8).rfactor(ko, u)`: a specialization cannot be factored; factor the update before it is specialized"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).specialize(A.dim(0).extent() >= 8)\nc.update(0).rfactor(ko, u)",
       "`c.update(0).rfactor(ko, u)`: update(0) of c is specialized already; factor it first"},
      {"c.compute_root()\nA.in(c).compute_at(c, m)\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u)",
       "`c.update(0).rfactor(ko, u)`: A.in(c) copies what c reads, and its terms move to another stage; make the copy for that stage, below: A.in(c_intm)"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u)\nc_intm.compute_at(y, n)",
       "`c_intm.compute_at(y, n)`: loop 'n' of y does not enclose every read of c_intm; c_intm may be at compute_root(), compute_at(c, m), compute_at(c, n), "
       "compute_at(c, ko)"},
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u).vectorize(ki)",
       "`c.update(0).vectorize(ki)`: update(0) of c has no loop 'ki'; its loops are ko, n, m"},
  });
  expect_rows(of_reductions, {
      {"total.compute_root()\ntotal.update(1).rfactor(q.y, u)",
       "`total.update(1).rfactor(q.y, u)`: update(1) of total is no sum, product, min, max, and/or of terms that may be regrouped"},
      {"total.compute_root()\ntotal.update(0).rfactor(q.y, u)\ntotal_intm.compute_root()\ntotal_intm.update(0).unroll(q.x)", "legal"},
  });
}

}  // namespace
}  // namespace kiln::tests
