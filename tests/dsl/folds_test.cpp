// fold_storage and hoist_storage: dsl/folds and the levels of storage in dsl/placement.
#include "dsl/folds.h"

#include "tests/dsl/verdicts.h"

namespace kiln::tests {
namespace {

TEST(FoldsTest, rings_hold_what_an_iteration_reads) {
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
       "`gray.fold_storage(y, 5)`: an iteration of loop 'yo' of out reads 6 elements of 'y', part by part, which a ring of 5 cannot hold; use at least 9"},
      {"out.split(y, yo, yi, 4)\ngray.compute_at(out, yi).store_root().fold_storage(y, 9)", "legal"},
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
       "`blur_y.fold_storage(y, 4)`: blur_y computes more along 'y' than is read of it, by a tail, a fused loop, an alignment or an update elsewhere, and a ring "
       "has no room for that; split 'y' with GuardWithIf or not at all"},
      {"blur_y.compute_at(out, y).store_root().fuse(x, y, t).fold_storage(y, 4)",
       "`blur_y.fold_storage(y, 4)`: blur_y computes more along 'y' than is read of it, by a tail, a fused loop, an alignment or an update elsewhere, and a ring "
       "has no room for that; split 'y' with GuardWithIf or not at all"},
      {"blur_y.compute_at(out, y).store_root().split(x, xo, xi, 8).fold_storage(y, 4)", "legal"},
  });
}

TEST(FoldsTest, hoisted_memory_is_used_at_every_loop_of_that_name) {
  expect_rows(of_product, {
      {"c.compute_root()\nA.in().compute_at(c, k).hoist_storage(c, m)",
       "`A.in().hoist_storage(c, m)`: c has a loop 'm' as well and does not use A.in(); rename that loop there, or use hoist_storage_root()"},
      {"c.compute_root().rename(m, mm)\nA.in().compute_at(c, k).hoist_storage(c, m)", "legal"},
      {"c.compute_root()\nA.in().compute_at(c, k).hoist_storage_root()", "legal"},
  });
}

TEST(FoldsTest, hoisted_memory_lies_outside_what_it_holds) {
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
      {"blur_x.compute_root()\nblur_y.compute_at(blur_x, x).hoist_storage(blur_x, y)", "legal"},
      {"out.hoist_storage_root()", "`out.hoist_storage_root()`: out is an output: the caller allocates it"},
  });
}

}  // namespace
}  // namespace kiln::tests
