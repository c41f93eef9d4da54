#include "autotune/search/predicted_cost.h"

#include <gtest/gtest.h>

#include "schedules/devices.h"
#include "tests/support/small_algorithms.h"

namespace kiln::autotune {
namespace {

double cost(const std::string& schedule) {
  static const Algorithm algorithm = tests::blurs();
  static const Problem problem = resolve(parse_problem_text("blurs(input.0=2052, input.1=1028, out.0=2048, out.1=1024)"), algorithm);
  return predicted_cost(algorithm, parse_schedule(schedule), problem, schedules::device_named("zen4")).value();
}

TEST(PredictedCost, is_less_where_more_cores_have_work) { EXPECT_LT(cost("out.parallel(y)\n"), cost("")); }

TEST(PredictedCost, is_less_where_stages_need_not_go_through_memory) {
  const std::string at_root = "out.parallel(y)\nblur_x.compute_root().parallel(y)\nblur_y.compute_root().parallel(y)\ngray.compute_root().parallel(y)\n";
  EXPECT_LT(cost("out.split(y, yo, yi, 32).parallel(yo)\nblur_y.compute_at(out, yo)\ngray.compute_at(out, yo)\n"), cost(at_root));
}

TEST(PredictedCost, is_more_where_much_is_computed_again) {
  EXPECT_LT(cost("out.split(y, yo, yi, 64).parallel(yo)\nblur_y.compute_at(out, yo)\n"), cost("out.split(y, yo, yi, 64).parallel(yo)\nblur_y.compute_at(out, x)\n"));
}

TEST(PredictedCost, is_silent_where_there_are_no_closed_forms) {
  const Algorithm algorithm = tests::product();
  const Problem problem = resolve(parse_problem_text("product(m=64, n=64, k=64)"), algorithm);
  EXPECT_EQ(predicted_cost(algorithm, parse_schedule("own_schedule()\n"), problem, schedules::device_named("zen4")), std::nullopt);
}

}  // namespace
}  // namespace kiln::autotune
