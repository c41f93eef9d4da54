#include "autotune/gpu_starts.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "schedules/devices.h"

namespace kiln::autotune {
namespace {

// Asked for nothing but what kernels lack.
class NoBuilds : public Builds {
 public:
  explicit NoBuilds(std::string unmet) : unmet_(std::move(unmet)) {}
  ObjectRef reference(Run&, const WorkItem&) override { return {}; }
  std::vector<Admission> build(Run&, const WorkItem&, const std::vector<Wish>&) override { return {}; }
  std::optional<ObjectRef> rebuild(Run&, const WorkItem&, const Schedule&) override { return std::nullopt; }
  std::string directives_of(Run&, const WorkItem&, const Schedule&) override { return ""; }
  std::optional<std::vector<Wish>> planned(Run&, const WorkItem&) override { return std::nullopt; }
  std::string unmet_requirement(const WorkItem&) override { return unmet_; }

 private:
  std::string unmet_;
};

// A sum stored as it grows, which no space of a GPU serves.
WorkItem line() {
  Algorithm algorithm;
  algorithm.generator = "line";
  algorithm.arguments.resize(1);
  algorithm.arguments[0].name = "y";
  algorithm.arguments[0].rank = 1;
  algorithm.arguments[0].type = kFloat32;
  algorithm.arguments[0].is_output = true;
  Stage stage;
  stage.name = "y";
  stage.types = {kFloat32};
  stage.loops = {"x"};
  stage.values = {parse_expression("(constant f32 0)")};
  Update update;
  update.indices = {parse_expression("x")};
  update.values = {parse_expression("(constant f32 1)")};
  stage.updates = {update};
  algorithm.stages = {stage};
  algorithm.outputs = {"y"};
  algorithm.symbols = {{"n", {{"y", 0}}}};
  algorithm.symbol_order = {"n"};
  WorkItem item;
  item.algorithm = std::make_shared<const Algorithm>(algorithm);
  item.problem = resolve(parse_problem_text("line(n=64)"), algorithm);
  return item;
}

std::string refused(Builds& builds) {
  try {
    gpu_starts(line(), schedules::device_named("h200"), builds, {});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(GpuStarts, are_what_the_user_brought_where_no_space_has_schedules) {
  NoBuilds builds("");
  const Wish mine{parse_schedule("y.gpu_blocks(x)\n"), "hand", {}, {}, false};
  const std::vector<Wish> starts = gpu_starts(line(), schedules::device_named("h200"), builds, {mine});
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(digest(starts[0].schedule), digest(mine.schedule));
}

TEST(GpuStarts, are_asked_for_or_told_to_be_of_no_use) {
  NoBuilds able(""), unable("kernels have no place for line");
  EXPECT_EQ(refused(able), "line(n=64): no space of a GPU has schedules for it; --try brings your own");
  EXPECT_EQ(refused(unable), "line(n=64): no space of a GPU has schedules for it: kernels have no place for line");
}

}  // namespace
}  // namespace kiln::autotune
