#include "dsl/numerics.h"

#include "tests/dsl/verdicts.h"

namespace kiln::tests {
namespace {

TEST(NumericsTest, contracts_limit_the_order_of_sums) {
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

TEST(NumericsTest, the_effect_on_the_sums_is_the_strongest_of_the_directives) {
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

}  // namespace
}  // namespace kiln::tests
