#include "dsl/legality.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/support/small_algorithms.h"

namespace kiln {
namespace {

using tests::blurs;
using tests::product;
using tests::reductions;

std::string verdict(const Algorithm& algorithm, const std::string& problem, const std::string& schedule) {
  const Problem resolved = resolve(parse_problem_text(problem), algorithm);
  const auto illegal = find_illegal(parse_schedule(schedule), algorithm, &resolved);
  return illegal ? illegal->message : "legal";
}

std::string of_product(const std::string& schedule) { return verdict(product(), "product(m=30, n=100, k=7)", schedule); }
std::string of_blurs(const std::string& schedule) { return verdict(blurs(), "blurs(input.0=66, input.1=34, out.0=64, out.1=32)", schedule); }
std::string of_reductions(const std::string& schedule) { return verdict(reductions(), "reductions(w=32)", schedule); }

struct Row {
  std::string schedule;
  std::string message;
};

void expect_rows(std::string (*judge)(const std::string&), const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(judge(row.schedule), row.message) << row.schedule;
}

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
      {"total.compute_root()\ntotal.update(2).unroll(q.x)", "`total.update(2).unroll(q.x)`: total has 2 updates: update(0) to update(1)"},
      {"total.compute_inline()", "`total.compute_inline()`: total has 2 updates and needs storage; use compute_root() or compute_at(stage, loop)"},
      {"total.compute_root()\ntotal.update(0).fuse(q.y, x, f)",
       "`total.update(0).fuse(q.y, x, f)`: 'q.y' is a reduction loop and 'x' a pure loop; only loops of one sort can be fused"},
  });
}

TEST(LegalityTest, contracts_limit_the_order_of_sums) {
  Algorithm strict = product(), fixed = product();
  strict.contract = Contract::strict;
  fixed.contract = Contract::fixed_tree;
  const std::string vector = "c.compute_root()\nc.update(0).atomic().vectorize(k, 4)", threads = "c.compute_root()\nc.update(0).atomic().parallel(k)";
  const std::string parts = "c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u)", order = "c.compute_root()\nc.update(0).split(k, ko, ki, 4).reorder(ko, ki)";
  EXPECT_EQ(verdict(strict, "product()", vector),
            "`c.update(0).vectorize(k, 4)`: it keeps several partial sums of 'k', and the contract of product is strict: the same bits under every schedule; "
            "only pure loops may be vectorized");
  EXPECT_EQ(verdict(strict, "product()", threads),
            "`c.update(0).parallel(k)`: threads would add the terms of 'k' in any order, and the contract of product is strict: the same bits under every "
            "schedule; only pure loops may be parallel");
  EXPECT_EQ(verdict(strict, "product()", parts),
            "`c.update(0).rfactor(ko, u)`: it keeps several partial sums of 'ko', and the contract of product is strict: the same bits under every schedule; its "
            "reduction loops may be split, but neither regrouped nor reordered");
  EXPECT_EQ(verdict(strict, "product()", order),
            "`c.update(0).reorder(ko, ki)`: it adds the terms over 'ko' and 'ki' in another order, and the contract of product is strict: the same bits under "
            "every schedule; keep 'ki' inside 'ko'");
  for (const std::string& schedule : {vector, parts, order}) EXPECT_EQ(verdict(fixed, "product()", schedule), "legal");
  EXPECT_EQ(verdict(fixed, "product()", threads),
            "`c.update(0).parallel(k)`: threads would add the terms of 'k' in any order, and the contract of product is fixed_tree: an order fixed by the "
            "schedule; rfactor a part of the loop and make that parallel");
  EXPECT_EQ(of_product(threads), "legal");
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

TEST(LegalityTest, prefetches_ask_for_what_is_read_there) {
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
      {"c.compute_root()\nc.update(0).prefetch(A, k, k).prefetch(A, k, m, 2)",
       "`c.update(0).prefetch(A, k, m, 2)`: A is fetched at loop 'k' of update(0) of c already; say it once"},
  });
}

TEST(LegalityTest, rings_hold_what_an_iteration_reads) {
  expect_rows(of_blurs, {
      {"blur_y.compute_root()\nblur_x.compute_at(out, y)\ngray.compute_at(blur_y, y).store_root().fold_storage(y, 3)",
       "`gray.compute_at(blur_y, y)`: loop 'y' of blur_y does not enclose every read of gray; gray may be at compute_root()"},
      {"blur_y.compute_at(out, y).store_root().fold_storage(y, 1)", "legal"},
      {"blur_y.compute_at(out, x).store_at(out, y).fold_storage(x, 4)", "legal"},
      {"blur_y.compute_at(out, x).store_at(out, y).fold_storage(x, 3, true)", "legal"},
      {"blur_y.compute_at(out, x).store_at(out, y).fold_storage(x, 2)",
       "`blur_y.fold_storage(x, 2)`: an iteration of loop 'x' of out reads 3 elements of 'x', which a ring of 2 cannot hold; use at least 3"},
      {"gray.compute_at(out, y).store_root().fold_storage(y, 2)",
       "`gray.fold_storage(y, 2)`: an iteration of loop 'y' of out reads 3 elements of 'y', which a ring of 2 cannot hold; use at least 3"},
      {"out.split(y, yo, yi, 4)\ngray.compute_at(out, yi).store_root().fold_storage(y, 5)",
       "`gray.fold_storage(y, 5)`: an iteration of loop 'yo' of out reads 6 elements of 'y', which a ring of 5 cannot hold; use at least 6"},
      {"out.split(y, yo, yi, 4)\ngray.compute_at(out, yi).store_at(out, yo).fold_storage(y, 3)", "legal"},
      {"blur_x.compute_at(out, y)\ngray.compute_at(out, y).store_root().fold_storage(y, 3)", "legal"},
      {"blur_y.compute_at(out, x).store_at(out, y).fold_storage(x, 4, false)",
       "`blur_y.fold_storage(x, 4, false)`: loop 'x' of out reads 'x' upwards; write fold_storage(x, 4, true)"},
      {"blur_y.compute_at(out, x).store_root().fold_storage(x, 4)",
       "`blur_y.fold_storage(x, 4)`: how many elements of 'x' an iteration of loop 'y' of out reads is not known while compiling; store blur_y at a loop inside "
       "it, or leave the fold to the compiler"},
      {"out.reorder(y, x)\nblur_y.compute_at(out, y).store_at(out, x).fold_storage(x, 80)",
       "`blur_y.fold_storage(x, 80)`: 'x' is read as a whole in each iteration of loop 'y' of out, so nothing of it can be overwritten; fold the dimension that "
       "this loop moves along"},
      {"blur_y.compute_at(out, y).fold_storage(y, 4)",
       "`blur_y.fold_storage(y, 4)`: blur_y is stored where it is computed, so every element is there at once; store_root() or store_at(stage, loop) at a loop "
       "outside must come first"},
      {"blur_y.compute_at(out, y).store_root().fold_storage(y, 4).fold_storage(y, 8)", "`blur_y.fold_storage(y, 8)`: 'y' is folded already; say it once"},
      {"blur_y.compute_at(out, y).store_root().fold_storage(y, 0)", "`blur_y.fold_storage(y, 0)`: a ring has at least 1 element, found 0"},
      {"blur_y.compute_at(out, y).store_root().fold_storage(q, 4)", "`blur_y.fold_storage(q, 4)`: 'q' is no dimension of blur_y; its dimensions are x, y"},
      {"out.fold_storage(y, 4)", "`out.fold_storage(y, 4)`: out is an output: the caller lays out its memory"},
      {"blur_y.compute_at(out, y).store_root().split(y, yo, yi, 2).fold_storage(y, 4)",
       "`blur_y.fold_storage(y, 4)`: blur_y computes more along 'y' than is read of it, by a tail, an alignment or an update elsewhere, and a ring has no room "
       "for that; split 'y' with GuardWithIf or not at all"},
      {"blur_y.compute_at(out, y).store_root().split(x, xo, xi, 8).fold_storage(y, 4)", "legal"},
  });
}

TEST(LegalityTest, hoisted_memory_lies_outside_what_it_holds) {
  expect_rows(of_blurs, {
      {"blur_y.compute_at(out, x).hoist_storage(out, y)", "legal"},
      {"blur_y.compute_at(out, x).store_at(out, y).hoist_storage_root()", "legal"},
      {"blur_y.compute_at(out, y).hoist_storage(out, x)",
       "`blur_y.hoist_storage(out, x)`: loop 'x' of out is inside the loop 'y' of out that blur_y is computed at; it must be outside or the same"},
      {"blur_y.compute_at(out, x).store_at(out, y).hoist_storage(out, x)",
       "`blur_y.hoist_storage(out, x)`: loop 'x' of out is inside the loop 'y' of out that blur_y is stored at; it must be outside or the same"},
      {"blur_y.compute_at(out, x).store_root().hoist_storage(out, y)",
       "`blur_y.hoist_storage(out, y)`: blur_y is stored at root, outside loop 'y' of out; say hoist_storage_root() or nothing"},
      {"out.parallel(y)\nblur_y.compute_at(out, x).hoist_storage_root()",
       "`blur_y.hoist_storage_root()`: the parallel loop 'y' lies between where blur_y is allocated and where it is computed, so its iterations would share the "
       "storage; allocate it inside that loop"},
      {"blur_y.compute_root().hoist_storage(out, y)",
       "`blur_y.hoist_storage(out, y)`: blur_y is computed at root; compute_at(stage, loop) must place it inside the loop that stores it"},
      {"blur_y.compute_at(out, x).hoist_storage(out, q)",
       "`blur_y.hoist_storage(out, q)`: out has no loop 'q'; hoist the storage of blur_y at a loop outside compute_at(out, x), or at root"},
      {"blur_y.compute_at(out, x).hoist_storage_root().hoist_storage_root()",
       "`blur_y.hoist_storage_root()`: it is said already where the memory of blur_y is taken; say it once"},
      {"out.hoist_storage_root()", "`out.hoist_storage_root()`: out is an output: the caller allocates it"},
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

TEST(LegalityTest, shared_loops_are_the_same_in_both) {
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
       "`B.in().compute_with(A.in(), d0)`: A.in() is stored further out than it is computed, and its sliding loops cannot be shared; store it where it is "
       "computed"},
  });
  expect_rows(of_reductions, {
      {"scan.compute_root()\ntotal.compute_root().compute_with(scan, x)",
       "`total.compute_with(scan, x)`: total reads scan, which must be complete before; only stages that do not need each other share loops, the others "
       "compute_at"},
  });
}

TEST(LegalityTest, groups_of_shared_loops_come_in_some_order) {
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

TEST(LegalityTest, partial_sums_have_a_stage_of_their_own) {
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

TEST(LegalityTest, specializations_have_loops_of_their_own) {
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

TEST(LegalityTest, the_effect_on_the_sums_is_the_strongest_of_the_directives) {
  const Algorithm algorithm = product();
  const auto effect = [&](const std::string& schedule) { return print(effect_of(parse_schedule(schedule), algorithm)); };
  EXPECT_EQ(effect("y.vectorize(n, 8).parallel(m)\nc.compute_root()\nc.update(0).vectorize(n, 8).split(k, ko, ki, 4).unroll(ki)"), "none");
  EXPECT_EQ(effect("c.compute_root()\nc.update(0).split(k, ko, ki, 4).reorder(ko, ki)"), "reorders_reduction");
  EXPECT_EQ(effect("c.compute_root()\nc.update(0).split(k, ko, ki, 4).rfactor(ko, u)"), "partial_sums");
  EXPECT_EQ(effect("c.compute_root()\nc.update(0).atomic().vectorize(k, 4)"), "partial_sums");
  EXPECT_EQ(effect("c.compute_root()\nc.update(0).atomic().parallel(k)"), "any_order");
  EXPECT_EQ(effect("own_schedule()"), "unknown");
  EXPECT_EQ(print(effect_of(parse_schedule("total.compute_root()\ntotal.update(0).reorder(q.y, q.x)"), reductions())), "none");  // integers do not round
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
}  // namespace kiln
