#include "dsl/legality.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "dsl/directive.h"
#include "dsl/error.h"
#include "tests/dsl/verdicts.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

TEST(LegalityTest, the_register_tile_of_a_product_is_legal) {
  EXPECT_EQ(of_product("y.tile(n, m, no, mo, ni, mi, 64, 6).reorder(ni, mi, mo, no).parallel(no).vectorize(ni, 16).unroll(ni).unroll(mi)\n"
                       "c.compute_at(y, mo).vectorize(n, 16).unroll(n).unroll(m)\n"
                       "c.update(0).reorder(n, m, k).vectorize(n, 16).unroll(n).unroll(m)\n"
                       "B.in().compute_at(y, no).vectorize(d0, 16)"),
            "legal");
  EXPECT_EQ(of_product(""), "legal");
}

TEST(LegalityTest, a_partial_sum_over_the_reduction_is_legal_after_atomic) {
  EXPECT_EQ(of_product("c.compute_root()\nc.update(0).split(k, ko, ki, 4).atomic().vectorize(ki).vectorize(n, 8)"), "legal");
}

TEST(LegalityTest, sliding_windows_and_wrappers_are_legal) {
  EXPECT_EQ(of_blurs("out.split(y, yo, yi, 8).parallel(yo)\nblur_y.compute_at(out, yi).store_at(out, yo).vectorize(x, 8)\n"
                     "gray.compute_at(out, yo)\ninput.in().compute_root()\ngray.in(out).compute_at(out, yi)"),
            "legal");
}

TEST(LegalityTest, an_index_with_a_border_still_has_a_constant_extent) {
  EXPECT_EQ(of_blurs("out.split(x, xo, xi, 8)\nblur_x.compute_at(out, xo)\nblur_y.compute_at(out, xo).unroll(x)"), "legal");
}

TEST(LegalityTest, names_that_do_not_exist_are_answered_with_those_that_do) {
  expect_rows(of_product, {
      {"d.compute_root()", "`d.compute_root()`: there is no stage 'd', did you mean 'c'; the stages of product are A.in(), B.in(), c, y"},
      {"result.compute_root()", "`result.compute_root()`: there is no stage 'result'; the stages of product are A.in(), B.in(), c, y"},
      {"A.compute_root()", "`A.compute_root()`: 'A' is an input; the stage that reads it is A.in()"},
      {"y.split(q, qo, qi, 8)", "`y.split(q, qo, qi, 8)`: y has no loop 'q'; its loops are n, m"},
      {"c.compute_root().split(k, ko, ki, 8)", "`c.split(k, ko, ki, 8)`: c has no loop 'k'; its loops are n, m; update(0) has it: c.update(0)"},
      {"c.compute_root()\nc.update(1).unroll(n, 4)", "`c.update(1).unroll(n, 4)`: c has 1 update: update(0)"},
      {"y.update(0).unroll(n, 4)", "`y.update(0).unroll(n, 4)`: y has no updates"},
      {"y.split(n, no, ni, 8).vectorize(n)", "`y.vectorize(n)`: loop 'n' of y was split; its loops are now ni, no, m"},
      {"y.fuse(n, m, nm).vectorize(m)", "`y.vectorize(m)`: loop 'm' of y was fused; its loops are now nm"},
      {"c.compute_at(y, q)", "`c.compute_at(y, q)`: y has no loop 'q'; c may be at compute_root(), compute_at(y, m), compute_at(y, n)"},
      {"c.compute_at(z, n)", "`c.compute_at(z, n)`: there is no stage 'z', did you mean 'c'; the stages of product are A.in(), B.in(), c, y"},
      {"c.compute_root().reorder_storage(m, k)", "`c.reorder_storage(m, k)`: 'k' is no dimension of c; its dimensions are n, m"},
  });
}

TEST(LegalityTest, new_names_must_be_free) {
  expect_rows(of_product, {
      {"y.split(n, m, ni, 8)", "`y.split(n, m, ni, 8)`: y has a loop 'm' already; its loops are n, m, so choose another name"},
      {"y.split(n, no, m, 8)", "`y.split(n, no, m, 8)`: y has a loop 'm' already; its loops are n, m, so choose another name"},
      {"y.split(n, ni, ni, 8)", "`y.split(n, ni, ni, 8)`: both parts of 'n' would be called 'ni'; give them different names"},
      {"y.split(n, n.o, ni, 8)", "`y.split(n, n.o, ni, 8)`: 'n.o' cannot name a new loop; write one word of letters, digits and _"},
      {"y.rename(n, m)", "`y.rename(n, m)`: y has a loop 'm' already; its loops are n, m, so choose another name"},
      {"y.tile(n, m, no, mo, ni, ni, 8, 8)", "`y.tile(n, m, no, mo, ni, ni, 8, 8)`: y has a loop 'ni' already; its loops are ni, no, m, so choose another name"},
  });
}

TEST(LegalityTest, factors_fit_what_they_divide) {
  expect_rows(of_product, {
      {"y.split(n, no, ni, 0)", "`y.split(n, no, ni, 0)`: 'n' cannot be split by 0; a factor is at least 1"},
      {"y.split(n, no, ni, -8)", "`y.split(n, no, ni, -8)`: 'n' cannot be split by -8; a factor is at least 1"},
      {"y.split(m, mo, mi, 64)",
       "`y.split(m, mo, mi, 64)`: loop 'm' of the output y runs 30 times in this problem, fewer than 64: the tail ShiftInwards would start before 0; use a "
       "factor of at most 30 or GuardWithIf"},
      {"y.split(m, mo, mi, 8, RoundUp)",
       "`y.split(m, mo, mi, 8, RoundUp)`: loop 'm' of the output y runs 30 times in this problem, which 8 does not divide: the tail RoundUp would leave the "
       "output; use a factor that divides it or GuardWithIf"},
      {"y.split(n, no, ni, 64, GuardWithIf).unroll(no, 4)",
       "`y.unroll(no, 4)`: loop 'no' of the output y runs 2 times in this problem, fewer than 4: the tail ShiftInwards would start before 0; use a factor of "
       "at most 2 or GuardWithIf"},
      {"y.split(m, mo, mi, 10).split(mi, a, b, 4, PredicateStores)",
       "`y.split(mi, a, b, 4, PredicateStores)`: loop 'mi' of the output y runs 10 times in this problem, which 4 does not divide: the tail PredicateStores "
       "would leave the output; use a factor that divides it or GuardWithIf"},
      {"y.split(m, mo, mi, 10, GuardWithIf).split(mi, a, b, 4, PredicateStores)", "legal"},
      {"y.split(m, mo, mi, 4, PredicateStores)", "legal"},
      {"y.split(m, mo, mi, 1, GuardWithIf).split(mi, a, b, 7, RoundUp)",
       "`y.split(mi, a, b, 7, RoundUp)`: loop 'mi' of the output y runs 1 time in this problem, which 7 does not divide: the tail RoundUp would leave the "
       "output; use a factor that divides it or GuardWithIf"},
      {"y.split(m, mo, mi, 8, GuardWithIf).split(mi, a, b, 3, RoundUp)", "legal"},
      {"y.split(m, mo, mi, 15).unroll(mo, 4, RoundUp)", "legal"},
      {"y.split(m, mo, mi, 15).unroll(mo, 4, RoundUp).bound_extent(m, 30)",
       "`y.unroll(mo, 4, RoundUp)`: loop 'mo' of the output y runs 2 times in this problem, which 4 does not divide: the tail RoundUp would leave the output; "
       "use a factor that divides it or GuardWithIf"},
      {"y.split(m, mo, mi, 64, GuardWithIf)", "legal"},
      {"y.split(m, mo, mi, 10, RoundUp)", "legal"},
      {"y.vectorize(n, 16).unroll(n, 4)", "legal"},
  });
}

TEST(LegalityTest, tails_stay_within_the_inputs) {
  expect_rows(of_product, {
      {"c.compute_root()\nA.in().compute_at(c, k).vectorize(d0, 4)",
       "`A.in().vectorize(d0, 4)`: loop 'd0' of A.in() runs 1 time there, fewer than 4: the tail ShiftInwards would read outside the input; use a factor that "
       "is at most 1 or GuardWithIf"},
      {"c.compute_root()\nc.update(0).split(n, no, ni, 6)\nB.in().compute_at(c, no).split(d0, e, f, 4, PredicateStores)",
       "`B.in().split(d0, e, f, 4, PredicateStores)`: loop 'd0' of B.in() runs 6 times there, which 4 does not divide: the tail PredicateStores would read "
       "outside the input; use a factor that divides it or GuardWithIf"},
      {"c.compute_root()\nA.in(c).compute_at(c, k).split(d0, e, f, 4, RoundUpAndBlend)",
       "`A.in(c).split(d0, e, f, 4, RoundUpAndBlend)`: loop 'd0' of A.in(c) runs 1 time there, which 4 does not divide: the tail RoundUpAndBlend would read "
       "outside the input; use a factor that divides it or GuardWithIf"},
      {"c.compute_root()\nA.in().compute_at(c, k).vectorize(d0, 4, GuardWithIf)", "legal"},
      {"c.compute_root()\nc.update(0).split(n, no, ni, 6)\nB.in().compute_at(c, no).vectorize(d0, 4)", "legal"},
      {"c.compute_root()\nA.in().compute_at(c, m).vectorize(d0, 4)", "legal"},
  });
  expect_rows(of_blurs, {
      {"gray.compute_at(out, x).split(x, xo, xi, 2, RoundUp)", "legal"},
      {"out.split(x, xo, xi, 8)\ngray.compute_at(out, xi)", "legal"},
  });
}

TEST(LegalityTest, blends_need_their_neighbours_and_atomic_stores_no_tail) {
  expect_rows(of_blurs, {
      {"blur_y.compute_at(out, x).store_root().split(x, xo, xi, 4, ShiftInwardsAndBlend)",
       "`blur_y.split(x, xo, xi, 4, ShiftInwardsAndBlend)`: the tail ShiftInwardsAndBlend loads elements of other iterations, which the storage of blur_y need "
       "not hold any more: it is stored further out than it is computed; use GuardWithIf or store it where it is computed"},
      {"blur_y.compute_at(out, x).split(x, xo, xi, 4, RoundUpAndBlend)", "legal"},
  });
  expect_rows(of_product, {
      {"c.compute_root()\nc.update(0).atomic().split(n, no, ni, 4, PredicateStores)",
       "`c.update(0).split(n, no, ni, 4, PredicateStores)`: an atomic update cannot mask its stores, as PredicateStores does; use GuardWithIf"},
      {"c.compute_root()\nc.update(0).split(n, no, ni, 4, Predicate).atomic()",
       "`c.update(0).split(n, no, ni, 4, Predicate)`: an atomic update cannot mask its stores, as Predicate does; use GuardWithIf"},
      {"c.compute_root()\nc.update(0).atomic().split(n, no, ni, 4, ShiftInwardsAndBlend)",
       "`c.update(0).split(n, no, ni, 4, ShiftInwardsAndBlend)`: an atomic update cannot store what it finds, as ShiftInwardsAndBlend does, without a lock; use "
       "GuardWithIf"},
      {"c.compute_root()\nc.update(0).atomic().split(n, no, ni, 4, GuardWithIf)", "legal"},
  });
}

TEST(LegalityTest, a_part_of_a_loop_that_ends_within_a_part_has_no_known_reach) {
  expect_rows(of_product, {
      {"y.split(n, no, ni, 11, GuardWithIf).split(ni, nj, nk, 4, GuardWithIf)\nc.compute_at(y, nj).vectorize(n)",
       "`c.vectorize(n)`: how often loop 'n' of c runs is not known while compiling; give it a factor, as in vectorize(n, 8)"},
      {"y.split(n, no, ni, 11, GuardWithIf).split(ni, nj, nk, 11).split(nk, nl, np, 4, GuardWithIf)\nc.compute_at(y, nl).vectorize(n)",
       "`c.vectorize(n)`: how often loop 'n' of c runs is not known while compiling; give it a factor, as in vectorize(n, 8)"},
      {"y.split(n, no, ni, 12, GuardWithIf).split(ni, nj, nk, 4, GuardWithIf)\nc.compute_at(y, nj).vectorize(n)", "legal"},
  });
}

TEST(LegalityTest, tails_keep_the_meaning_of_updates_and_reductions) {
  expect_rows(of_product, {
      {"c.compute_root()\nc.update(0).split(k, ko, ki, 4, RoundUp)",
       "`c.update(0).split(k, ko, ki, 4, RoundUp)`: 'k' is a reduction loop, where RoundUp would add terms twice or terms that do not exist; use GuardWithIf, "
       "Predicate or Auto"},
      {"c.compute_root()\nc.update(0).split(n, no, ni, 4, ShiftInwards)",
       "`c.update(0).split(n, no, ni, 4, ShiftInwards)`: ShiftInwards would update elements twice; in an update use RoundUp, GuardWithIf, Predicate or Auto"},
      {"c.compute_root()\nc.update(0).split(n, no, ni, 4).split(ni, nj, nk, 3, RoundUp)",
       "`c.update(0).split(ni, nj, nk, 3, RoundUp)`: 'ni' is the inner part of a split, where RoundUp would update elements of the next tile twice; use "
       "GuardWithIf or Auto"},
      {"c.compute_root()\nc.split(n, no, ni, 4).split(ni, nj, nk, 3, PredicateLoads)",
       "`c.split(ni, nj, nk, 3, PredicateLoads)`: 'ni' is the inner part of a split, where PredicateLoads would store to the next tile; use GuardWithIf, "
       "Predicate or Auto"},
      {"y.split(n, no, ni, 3).split(no, nj, nk, 4, PredicateLoads)",
       "`y.split(no, nj, nk, 4, PredicateLoads)`: 'no' stems from a split that shifts inwards, onto whose elements PredicateLoads would store what it did not "
       "compute; use GuardWithIf, Predicate or Auto"},
      {"y.split(n, no, ni, 3).split(no, nj, nk, 4, RoundUpAndBlend)",
       "`y.split(no, nj, nk, 4, RoundUpAndBlend)`: 'no' stems from a split that shifts inwards, onto whose elements RoundUpAndBlend would store what it did "
       "not compute; use GuardWithIf, Predicate or Auto"},
      {"y.split(n, no, ni, 8, ShiftInwardsAndBlend).vectorize(no, 4)",
       "`y.vectorize(no, 4)`: 'no' stems from a split with ShiftInwardsAndBlend, whose iterations may store to the same elements and must not do so at once; "
       "use GuardWithIf there or vectorize the inner part"},
      {"y.vectorize(n, 8, ShiftInwardsAndBlend)", "legal"},
      {"y.split(n, no, ni, 3, GuardWithIf).split(no, nj, nk, 4, PredicateLoads)", "legal"},
      {"c.compute_root()\nc.split(n, no, ni, 4, PredicateStores).split(no, nj, nk, 3)",
       "`c.split(no, nj, nk, 3)`: 'no' stems from a split with PredicateLoads or PredicateStores, whose parts cannot be split again; use Predicate or "
       "GuardWithIf there"},
      {"c.compute_root()\nc.update(0).split(n, no, ni, 4).parallel(no).split(ni, nj, nk, 2, RoundUpAndBlend)",
       "`c.update(0).split(ni, nj, nk, 2, RoundUpAndBlend)`: RoundUpAndBlend loads and stores elements beyond its own, which a parallel loop of the same "
       "dimension may be computing; use GuardWithIf"},
      {"c.compute_root()\nc.update(0).split(n, no, ni, 4, ShiftInwardsAndBlend).parallel(no)",
       "`c.update(0).parallel(no)`: 'no' stems from a split with a Blend tail, which touches elements of other iterations; use GuardWithIf there"},
  });
}

TEST(LegalityTest, a_loop_runs_in_one_way) {
  expect_rows(of_product, {
      {"y.vectorize(n, 8).vectorize(n, 2)",
       "`y.vectorize(n, 2)`: another part of the same dimension of y is vectorized already; vectorize each dimension once, with the whole width"},
      {"y.split(n, no, ni, 8).vectorize(ni).parallel(ni)", "`y.parallel(ni)`: loop 'ni' is vectorized already; a loop runs in one way"},
      {"y.split(n, no, ni, 8).vectorize(ni).vectorize(ni)", "`y.vectorize(ni)`: loop 'ni' is vectorized already; a loop runs in one way"},
      {"y.parallel(m).serial(m)", "`y.serial(m)`: loop 'm' is parallel already; a loop runs in one way"},
      {"y.parallel(m).split(m, mo, mi, 4)", "`y.split(m, mo, mi, 4)`: loop 'm' is parallel already; split it first, then say how its parts run"},
      {"y.unroll(n, 4).split(m, mo, mi, 2).fuse(n, mi, nm)", "legal"},
      {"y.parallel(m).fuse(n, m, nm)", "`y.fuse(n, m, nm)`: loop 'm' is parallel already; fuse it first, then say how its parts run"},
      {"y.split(n, no, ni, 8).reorder(m, ni).vectorize(ni).parallel(m)",
       "`y.parallel(m)`: the parallel loop 'm' would run inside a vectorized loop; reorder the vectorized one further in"},
  });
}

TEST(LegalityTest, vectors_and_copies_are_known_and_small) {
  expect_rows(of_product, {
      {"y.vectorize(n)", "`y.vectorize(n)`: how often loop 'n' of y runs is not known while compiling; give it a factor, as in vectorize(n, 8)"},
      {"y.unroll(m)", "`y.unroll(m)`: how often loop 'm' of y runs is not known while compiling; give it a factor, as in unroll(m, 4)"},
      {"c.compute_root()\nc.update(0).unroll(k)",
       "`c.update(0).unroll(k)`: how often loop 'k' of c runs is not known while compiling; give it a factor, as in unroll(k, 4)"},
      {"y.vectorize(n, 1)", "`y.vectorize(n, 1)`: a vector needs at least 2 lanes, found 1"},
      {"c.compute_root().vectorize(n, 8192)", "`c.vectorize(n, 8192)`: c would compute 8192 lanes at once; at most 256 are allowed"},
      {"c.compute_root().unroll(n, 64).unroll(m, 32)", "`c.unroll(m, 32)`: c would hold 2048 copies of its body; at most 1024 are allowed"},
      {"c.compute_root().vectorize(n, 128).unroll(m, 64)",
       "`c.unroll(m, 64)`: c would hold 64 copies of 128 lanes, 8192 elements in one body; at most 4096 are allowed"},
      {"y.split(m, mo, mi, 6)\nc.compute_at(y, mi).vectorize(m)", "`c.vectorize(m)`: a vector needs at least 2 lanes, but loop 'm' of c runs once there"},
      {"y.bound(n, 0, 100).vectorize(n)", "legal"},
  });
}

TEST(LegalityTest, dependent_steps_stay_in_order) {
  expect_rows(of_product, {
      {"c.compute_root()\nc.update(0).parallel(k)",
       "`c.update(0).parallel(k)`: 'k' is a reduction loop; write c.update(0).atomic() before it is parallel"},
      {"c.compute_root()\nc.update(0).vectorize(k, 4)", "`c.update(0).vectorize(k, 4)`: 'k' is a reduction loop; write c.update(0).atomic() before it is vectorized"},
      {"c.compute_root().atomic()", "`c.atomic()`: atomic() belongs to an update; write c.update(0).atomic()"},
      {"y.atomic()", "`y.atomic()`: y has no updates; atomic() belongs to one"},
  });
  expect_rows(of_reductions, {
      {"total.compute_root()\ntotal.update(0).reorder(q.y, q.x)", "legal"},
      {"total.compute_root()\ntotal.update(1).reorder(q.y, q.x)",
       "`total.update(1).reorder(q.y, q.x)`: 'q.y' and 'q.x' are reduction loops whose steps depend on each other, and update(1) of total is no sum, product, "
       "min, max, and/or of terms that may be reordered; keep 'q.x' inside 'q.y'"},
      {"total.compute_root()\ntotal.update(1).atomic()",
       "`total.update(1).atomic()`: update(1) of total is no sum, product, min, max, and/or of terms that may be regrouped"},
      {"scan.compute_root()\nscan.update(0).parallel(r)",
       "`scan.update(0).parallel(r)`: 'r' is a reduction loop whose steps depend on each other, and update(0) of scan is no sum, product, min, max, and/or of "
       "terms that may be regrouped; only a pure loop can be parallel"},
      {"total.compute_root()\ntotal.update(0).unroll(q.x)", "legal"},
      {"total.compute_root()\ntotal.update(0).atomic().split(q.x, a, b, 3).vectorize(b)", "legal"},
      {"total.compute_root()\ntotal.update(0).atomic().split(q.x, a, b, 3).vectorize(a, 4)",
       "`total.update(0).vectorize(a, 4)`: loop 'a' runs once at most, so there are no terms to put side by side; only pure loops can be vectorized there"},
      {"total.compute_root()\ntotal.update(2).unroll(q.x)", "`total.update(2).unroll(q.x)`: total has 2 updates: update(0) to update(1)"},
      {"total.compute_inline()", "`total.compute_inline()`: total has 2 updates and needs storage; use compute_root() or compute_at(stage, loop)"},
      {"total.compute_root()\ntotal.update(0).fuse(q.y, x, f)",
       "`total.update(0).fuse(q.y, x, f)`: 'q.y' is a reduction loop and 'x' a pure loop; only loops of one sort can be fused"},
  });
}

TEST(LegalityTest, places_enclose_every_read) {
  expect_rows(of_product, {
      {"y.compute_at(c, n)", "`y.compute_at(c, n)`: y is an output, which is computed at root; only other stages can be computed at its loops"},
      {"y.compute_inline()", "`y.compute_inline()`: y is an output, which is computed at root; only other stages can be computed inline"},
      {"y.compute_root()", "legal"},
      {"c.compute_inline()", "`c.compute_inline()`: c has 1 update and needs storage; use compute_root() or compute_at(stage, loop)"},
      {"c.compute_root().compute_at(y, n)", "`c.compute_at(y, n)`: it is said already where c is computed; say it once"},
      {"c.compute_at(c, n)", "`c.compute_at(c, n)`: c cannot be computed at a loop of its own; name a stage that reads it"},
      {"c.compute_root()\nA.in().compute_at(y, n)",
       "`A.in().compute_at(y, n)`: loop 'n' of y does not enclose every read of A.in(); A.in() may be at compute_root(), compute_at(c, m), compute_at(c, n), "
       "compute_at(c, k)"},
      {"y.split(n, no, ni, 8).vectorize(ni)\nc.compute_at(y, ni)",
       "`c.compute_at(y, ni)`: a vectorized loop of y would enclose c; it may be at compute_root(), compute_at(y, m), compute_at(y, no)"},
      {"B.in().vectorize(d0, 8)",
       "`B.in().vectorize(d0, 8)`: B.in() is inlined where it is read, so it has neither loops nor storage; give it compute_root() or compute_at(stage, loop)"},
  });
  expect_rows(of_blurs, {
      {"blur_x.compute_at(out, y)\ngray.compute_at(blur_x, y)",
       "`gray.compute_at(blur_x, y)`: loop 'y' of blur_x does not enclose every read of gray; gray may be at compute_root(), compute_at(out, y)"},
      {"blur_y.compute_at(blur_x, x)",
       "`blur_y.compute_at(blur_x, x)`: blur_x is inlined, so its loops do not exist; blur_y may be at compute_root(), compute_at(out, y), compute_at(out, x)"},
      {"blur_x.compute_root()\nblur_y.compute_at(out, y)",
       "`blur_y.compute_at(out, y)`: loop 'y' of out does not enclose every read of blur_y; blur_y may be at compute_root(), compute_at(blur_x, y), "
       "compute_at(blur_x, x)"},
      {"gray.compute_at(out, y)", "legal"},
  });
}

TEST(LegalityTest, storage_lies_outside_what_computes_it) {
  expect_rows(of_blurs, {
      {"blur_y.compute_at(out, y).store_at(out, x)",
       "`blur_y.store_at(out, x)`: loop 'x' of out is inside the loop 'y' of out that blur_y is computed at; it must be outside or the same"},
      {"blur_y.compute_root().store_at(out, y)",
       "`blur_y.store_at(out, y)`: blur_y is computed at root; compute_at(stage, loop) must place it inside the loop that stores it"},
      {"blur_y.store_root()",
       "`blur_y.store_root()`: blur_y is inlined where it is read, so it has neither loops nor storage; give it compute_root() or compute_at(stage, loop)"},
      {"out.parallel(y)\nblur_y.compute_at(out, y).store_root()",
       "`blur_y.store_root()`: the parallel loop 'y' lies between where blur_y is stored and where it is computed, so its iterations would share the storage; "
       "store it inside that loop"},
      {"blur_y.compute_at(out, x).store_at(out, q)",
       "`blur_y.store_at(out, q)`: out has no loop 'q'; store blur_y at a loop outside compute_at(out, x), or at root"},
      {"blur_y.compute_at(out, x).store_root().store_root()", "`blur_y.store_root()`: it is said already where blur_y is stored; say it once"},
      {"out.store_root()", "`out.store_root()`: out is an output: the caller allocates it"},
      {"out.store_in(Stack)", "`out.store_in(Stack)`: out is an output: the caller chooses its memory"},
      {"out.reorder_storage(y, x)", "`out.reorder_storage(y, x)`: out is an output: the caller lays out its memory"},
      {"out.align_storage(x, 8)", "`out.align_storage(x, 8)`: out is an output: the caller lays out its memory"},
      {"gray.compute_root().reorder_storage(x, x)", "`gray.reorder_storage(x, x)`: 'x' is named twice"},
      {"gray.compute_root().align_storage(x, 0)", "`gray.align_storage(x, 0)`: an alignment is at least 1 element, found 0"},
      {"blur_y.compute_at(out, y).store_root().unroll(x)",
       "`blur_y.unroll(x)`: how often loop 'x' of blur_y runs is not known while compiling; give it a factor, as in unroll(x, 4)"},
  });
}

TEST(LegalityTest, loops_are_fused_and_reordered_where_they_stand) {
  expect_rows(of_blurs, {
      {"out.fuse(y, x, f)", "`out.fuse(y, x, f)`: 'x' is not the loop just outside 'y'; the loops are x, y, innermost first: reorder them first"},
      {"out.fuse(x, x, f)", "`out.fuse(x, x, f)`: 'x' cannot be fused with itself"},
      {"out.reorder(x, y, x)", "`out.reorder(x, y, x)`: 'x' is named twice"},
      {"out.reorder(x, q)", "`out.reorder(x, q)`: out has no loop 'q'; its loops are x, y"},
      {"out.reorder(y, x).fuse(y, x, f).parallel(f)", "legal"},
  });
}

TEST(LegalityTest, bounds_agree_with_the_problem) {
  expect_rows(of_product, {
      {"y.bound(n, 0, 96)", "`y.bound(n, 0, 96)`: 'n' of the output y has 100 elements in this problem, not 96"},
      {"y.bound(n, 4, 100)", "`y.bound(n, 4, 100)`: 'n' of the output y starts at 0, not at 4"},
      {"y.bound(n, 0, 0)", "`y.bound(n, 0, 0)`: an extent is at least 1, found 0"},
      {"y.bound_extent(m, 31)", "`y.bound_extent(m, 31)`: 'm' of the output y has 30 elements in this problem, not 31"},
      {"y.bound(k, 0, 7)", "`y.bound(k, 0, 7)`: 'k' is no dimension of y; its dimensions are n, m"},
      {"c.compute_root().bound(n, 0, 100)", "`c.bound(n, 0, 100)`: how much of c is computed follows from what reads it; bound the outputs, which are y"},
      {"A.in().compute_root().bound(d0, 0, 8)", "`A.in().bound(d0, 0, 8)`: how much of A.in() is computed follows from what reads it; bound the outputs, which are y"},
      {"y.align_bounds(n, 8)", "`y.align_bounds(n, 8)`: 'n' of the output y has 100 elements, which 8 does not divide"},
      {"y.align_bounds(n, 0)", "`y.align_bounds(n, 0)`: a modulus is at least 1, found 0"},
      {"y.align_bounds(n, 4, 4)", "`y.align_bounds(n, 4, 4)`: a remainder is at least 0 and below 4, found 4"},
      {"y.align_bounds(n, 4, 1)", "`y.align_bounds(n, 4, 1)`: 'n' of the output y starts at 0, so its remainder is 0, not 1"},
      {"y.align_bounds(n, 4).bound(n, 0, 100)", "legal"},
  });
}

TEST(LegalityTest, wrappers_hold_what_someone_reads) {
  expect_rows(of_product, {
      {"y.in().compute_root()", "`y.in().compute_root()`: no stage reads y, so a wrapper of it would hold nothing"},
      {"A.in(y).compute_root()", "`A.in(y).compute_root()`: y does not read A.in(); the stages that do are c"},
      {"A.in(z).compute_root()", "`A.in(z).compute_root()`: there is no stage 'z' to wrap A for; the stages are A.in(), B.in(), c, y"},
      {"c.in().compute_at(y, m)\nc.compute_root()", "legal"},
      {"c.compute_root()\nA.in(c).compute_at(c, k)", "legal"},
  });
}

TEST(LegalityTest, policies_are_said_once_and_tasks_not_at_all) {
  expect_rows(of_blurs, {
      {"out.partition(x, Never).partition(y, Auto)", "legal"},
      {"out.partition(x, Never).partition(x, Auto)", "`out.partition(x, Auto)`: it is said already how 'x' is partitioned; say it once"},
      {"out.partition(x, Always)", "`out.partition(x, Always)`: a loop without borders cannot be partitioned, and Always would fail there; write Auto or Never"},
      {"out.partition(q, Never)", "`out.partition(q, Never)`: out has no loop 'q'; its loops are x, y"},
      {"blur_y.compute_at(out, y).async()",
       "`blur_y.async()`: the runtime of a package has threads for parallel loops, but no tasks that wait for each other, so blur_y cannot run beside what reads "
       "it; make a loop of it or of its consumer parallel"},
  });
}

// The property tests of the back end are only as good as what is proposed to them.
TEST(LegalityTest, random_legal_schedules_have_every_directive) {
  std::mt19937_64 random(tests::test_seed(3));
  std::map<std::string, int> drawn;
  for (const auto& [algorithm, problem] : {std::pair(product(), "product(m=30, n=100, k=7)"), std::pair(blurs(), "blurs(input.0=66, input.1=34, out.0=64, out.1=32)"),
                                           std::pair(reductions(), "reductions(w=32)"), std::pair(tests::pairs(), "pairs(w=16)")}) {
    const Problem resolved = resolve(parse_problem_text(problem), algorithm);
    for (int i = 0; i < 100; ++i) {
      const Schedule schedule = tests::random_legal_schedule(algorithm, resolved, random);
      EXPECT_FALSE(find_illegal(schedule, algorithm, &resolved)) << print(schedule);
      EXPECT_EQ(print(parse_schedule(print(schedule))), print(schedule));
      for (const Directive& directive : schedule.directives) ++drawn[directive.name];
    }
  }
  for (const DirectiveSpec& spec : directives()) {
    // Those of GPUs are drawn from their spaces, and held against the reference in the emulator.
    const bool is_not_proposed = spec.is_opaque || spec.is_for_gpu || spec.name == "async" || spec.name == "compute_inline";
    EXPECT_TRUE(is_not_proposed || drawn[std::string(spec.name)] > 3) << spec.name << " was drawn " << drawn[std::string(spec.name)] << " times";
  }
}

// The product is the output itself.
std::string of_bare_product(const std::string& schedule) {
  Algorithm bare = product();
  bare.stages.pop_back();
  bare.outputs = {"c"};
  return verdict(bare, "product(m=30, n=100, k=7)", schedule);
}

TEST(LegalityTest, an_output_with_updates_may_be_stored_by_its_wrapper) {
  expect_rows(of_bare_product, {
      {"c.in().tile(n, m, no, mo, ni, mi, 16, 6).parallel(no).vectorize(ni, 8).unroll(mi)\n"
       "c.compute_at(c.in(), mo).vectorize(n, 8).unroll(m)\nc.update(0).reorder(n, m, k).vectorize(n, 8).unroll(m)\nB.in().compute_at(c.in(), mo)", "legal"},
      {"c.in().bound(n, 0, 100)\nc.compute_root()", "legal"},
      {"c.in().parallel(m)\nc.compute_at(c.in(), m).store_in(Stack)", "legal"},
      {"c.in().bound(n, 0, 64)\nc.compute_root()", "`c.in().bound(n, 0, 64)`: 'n' of the output c.in() has 100 elements in this problem, not 64"},
      {"c.in().compute_at(c, n)", "`c.in().compute_at(c, n)`: c.in() is an output, which is computed at root; only other stages can be computed at its loops"},
      {"c.in().vectorize(n, 128, ShiftInwards)\nc.compute_root()",
       "`c.in().vectorize(n, 128, ShiftInwards)`: loop 'n' of the output c.in() runs 100 times in this problem, fewer than 128: the tail ShiftInwards would start "
       "before 0; use a factor of at most 100 or GuardWithIf"},
  });
}

TEST(LegalityTest, opaque_schedules_are_known_and_available) {
  expect_rows(of_product, {
      {"own_schedule()", "`own_schedule()`: product has no schedule of its own: schedule() leaves every stage at its default"},
      {"autoschedule(Mullapudi)", "`autoschedule(Mullapudi)`: there is no autoscheduler 'Mullapudi'; there are Adams2019, Li2018, Mullapudi2016"},
      {"autoschedule(Mullapudi2016, threads=2)",
       "`autoschedule(Mullapudi2016, threads=2)`: Mullapudi2016 has no key 'threads'; its keys are parallelism, last_level_cache_size, balance"},
      {"autoschedule(Mullapudi2016, parallelism=2)", "legal"},
  });
}

TEST(LegalityTest, built_schedules_are_checked_like_parsed_ones) {
  Schedule schedule;
  Chain(schedule, "c").add("vectorise", "n", 8);
  EXPECT_EQ(find_illegal(schedule, product(), nullptr)->message, "`c.vectorise(n, 8)`: there is no directive 'vectorise'");
  schedule = {};
  Chain(schedule, "c").add("compute_root");
  Chain(schedule, "c", 0).add("compute_root");
  EXPECT_EQ(find_illegal(schedule, product(), nullptr)->message,
            "`c.update(0).compute_root()`: compute_root belongs to the whole stage, not to an update: write c.compute_root(…)");
  schedule = {};
  Chain(schedule, "c").add("split", "n", 8);
  EXPECT_EQ(find_illegal(schedule, product(), nullptr)->message,
            "`c.split(n, 8)`: split has 2 arguments; write split(loop, outer, inner, factor) or split(loop, outer, inner, factor, tail)");
}

TEST(LegalityTest, the_earliest_directive_is_named) {
  const Algorithm algorithm = product();
  const auto illegal = find_illegal(parse_schedule("c.compute_at(y, q)\ny.vectorize(n)"), algorithm, nullptr);
  ASSERT_TRUE(illegal);
  EXPECT_EQ(illegal->directive, 0u);
}

TEST(LegalityTest, without_a_problem_extents_are_not_asked) {
  EXPECT_FALSE(find_illegal(parse_schedule("y.split(m, mo, mi, 64)"), product(), nullptr));
  EXPECT_FALSE(find_illegal(parse_schedule("y.bound(n, 0, 96)"), product(), nullptr));
}

TEST(LegalityTest, require_legal_throws_the_message) {
  const Algorithm algorithm = product();
  EXPECT_NO_THROW(require_legal(parse_schedule("c.compute_root()"), algorithm, nullptr));
  try {
    require_legal(parse_schedule("c.vectorize(q)"), algorithm, nullptr);
    FAIL();
  } catch (const ScheduleError& error) {
    EXPECT_STREQ(error.what(), "`c.vectorize(q)`: c has no loop 'q'; its loops are n, m");
  }
}

TEST(LegalityTest, one_checker_answers_for_many_schedules) {
  const Algorithm algorithm = product();
  const Problem problem = resolve(parse_problem_text("product(m=30)"), algorithm);
  const Legality legality(algorithm, &problem);
  EXPECT_FALSE(legality.find_illegal(parse_schedule("y.split(m, mo, mi, 30)")));
  EXPECT_TRUE(legality.find_illegal(parse_schedule("y.split(m, mo, mi, 31)")));
}

}  // namespace
}  // namespace kiln::tests
