// specialize: its rule, and how the others treat a definition with branches.
#include "tests/dsl/verdicts.h"

namespace kiln::tests {
namespace {

TEST(SpecializationsTest, specializations_have_loops_of_their_own) {
  expect_rows(of_product, {
      {"y.specialize(C.dim(0).extent() >= 64).vectorize(n, 64)\ny.vectorize(n, 4, GuardWithIf)", "legal"},
      {"y.vectorize(n, 64, GuardWithIf).specialize(C.dim(1).extent() == 30 && C.dim(0).extent() % 4 == 0).unroll(m, 30)", "legal"},
      {"y.specialize(C.dim(1).extent() >= 64).vectorize(m, 64)", "legal"},
      {"y.specialize(C.dim(1).extent() >= 30).vectorize(m, 64)",
       "`y.specialize(C.dim(1).extent() >= 30).vectorize(m, 64)`: loop 'm' of the output y runs 30 times in this problem, fewer than 64: the tail ShiftInwards "
       "would start before 0; use a factor of at most 30 or GuardWithIf"},
      {"y.split(n, no, ni, 8).specialize(C.dim(0).extent() >= 64).vectorize(n)",
       "`y.specialize(C.dim(0).extent() >= 64).vectorize(n)`: loop 'n' of y was split; its loops are now ni, no, m"},
      {"y.specialize(D.dim(0).extent() >= 64)", "`y.specialize(D.dim(0).extent() >= 64)`: there is no buffer argument 'D'; there are A, B, C"},
      {"y.specialize(C.dim(2).extent() >= 64)", "`y.specialize(C.dim(2).extent() >= 64)`: C has 2 dimensions, numbered from 0; there is no dim(2)"},
      {"c.specialize(C.dim(0).extent() >= 64)",
       "legal"},
      {"A.in().specialize(C.dim(0).extent() >= 64)",
       "`A.in().specialize(C.dim(0).extent() >= 64)`: A.in() is inlined where it is read, so it has neither loops nor storage; give it compute_root() or "
       "compute_at(stage, loop)"},
      {"y.specialize(C.dim(0).extent() >= 64).split(n, no, ni, 8)\nc.compute_at(y, no)",
       "`c.compute_at(y, no)`: loop 'no' of y does not enclose every read of c; c may be at compute_root(), compute_at(y, m)"},
      {"y.specialize(C.dim(0).extent() >= 64).reorder(m, n)\nc.compute_at(y, m)", "legal"},
      {"y.specialize(C.dim(0).extent() >= 64).compute_with(c, n)",
       "`y.specialize(C.dim(0).extent() >= 64).compute_with(c, n)`: a specialization shares no loops; leave out one of the two"},
      {"y.specialize(C.dim(0).extent() >= 64).vectorize(n)",
       "`y.specialize(C.dim(0).extent() >= 64).vectorize(n)`: how often loop 'n' of y runs is not known while compiling; give it a factor, as in vectorize(n, 8)"},
  });
  Schedule schedule;
  Chain(schedule, "y").add("specialize", "C.dim(0).extent() >= 64").add("specialize", "C.dim(0).extent() >= 64");
  EXPECT_EQ(find_illegal(schedule, product(), nullptr)->message, "`y.specialize(C.dim(0).extent() >= 64)`: y is specialized so already; say it once");
  schedule.directives[1].condition = "C.dim(0).extent() >= 64";
  EXPECT_EQ(find_illegal(schedule, product(), nullptr)->message,
            "`y.specialize(C.dim(0).extent() >= 64).specialize(C.dim(0).extent() >= 64)`: a specialization cannot be specialized again; write one condition, "
            "joined by &&");
  schedule.directives.erase(schedule.directives.begin());
  schedule.directives[0].name = "store_root";
  schedule.directives[0].arguments.clear();
  EXPECT_EQ(find_illegal(schedule, product(), nullptr)->message,
            "`y.specialize(C.dim(0).extent() >= 64).store_root()`: store_root belongs to the whole stage, not to a specialization: write y.store_root(…)");
  schedule.directives[0].name = "unroll";
  schedule.directives[0].arguments = {"n", 4};
  EXPECT_EQ(find_illegal(schedule, product(), nullptr)->message,
            "`y.specialize(C.dim(0).extent() >= 64).unroll(n, 4)`: y has no specialization for C.dim(0).extent() >= 64 yet; write "
            "specialize(C.dim(0).extent() >= 64) first");
}

}  // namespace
}  // namespace kiln::tests
