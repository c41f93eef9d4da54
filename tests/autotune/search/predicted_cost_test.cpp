#include "autotune/search/predicted_cost.h"

#include <gtest/gtest.h>

#include "schedules/devices.h"
#include "tests/support/small_algorithms.h"

namespace kiln::autotune {
namespace {

double cost_of(const Algorithm& algorithm, const std::string& problem, const std::string& schedule) {
  Device device = schedules::device_named("zen4");
  device.cores = 8;
  return predicted_cost(algorithm, parse_schedule(schedule), resolve(parse_problem_text(problem), algorithm), device).value();
}

double cost(const std::string& schedule) { return cost_of(tests::blurs(), "blurs(input.0=2052, input.1=1028, out.0=2048, out.1=1024)", schedule); }

TEST(PredictedCost, is_less_where_more_cores_have_work) { EXPECT_LT(cost("out.parallel(y)\n"), cost("")); }

TEST(PredictedCost, is_less_where_stages_need_not_go_through_memory) {
  const std::string at_root = "out.parallel(y)\nblur_x.compute_root().parallel(y)\nblur_y.compute_root().parallel(y)\ngray.compute_root().parallel(y)\n";
  EXPECT_LT(cost("out.split(y, yo, yi, 32).parallel(yo)\nblur_y.compute_at(out, yo)\ngray.compute_at(out, yo)\n"), cost(at_root));
}

TEST(PredictedCost, is_less_where_a_tile_stays_in_a_cache) {
  const auto product = [](const std::string& update) {
    return cost_of(tests::product(), "product(m=1024, n=1024, k=1024)", "c.compute_root()\nc.update(0)." + update + "\n");
  };
  EXPECT_LT(product("split(m, mo, mi, 64).split(n, no, ni, 64).reorder(ni, mi, k, no, mo)"), product("reorder(n, k, m)"));
}

TEST(PredictedCost, is_silent_where_there_are_no_closed_forms) {
  const Algorithm algorithm = tests::product();
  const Problem problem = resolve(parse_problem_text("product(m=64, n=64, k=64)"), algorithm);
  EXPECT_EQ(predicted_cost(algorithm, parse_schedule("own_schedule()\n"), problem, schedules::device_named("zen4")), std::nullopt);
}

}  // namespace
}  // namespace kiln::autotune
