// Fusion as a knob: every way to cut a chain or a graph of stages into loop nests is among the points, and what cannot win is not.
#include "schedules/fusion.h"

#include <algorithm>
#include <set>

#include "dsl/legality.h"
#include "schedules/devices.h"
#include "schedules/sketch.h"
#include "tests/schedules/sketch_subjects.h"

namespace kiln::schedules {
namespace {

Space space_of(const SketchSubject& subject) { return sketch(subject.algorithm, subject.problem, device_named("zen4")); }

// The stages computed at root among those named.
std::set<std::string> at_root(const Schedule& schedule, const std::vector<std::string>& stages) {
  std::set<std::string> found;
  for (const Directive& directive : schedule.directives) {
    if (directive.name == "compute_root" && std::count(stages.begin(), stages.end(), directive.stage) > 0) found.insert(directive.stage);
  }
  return found;
}

// Over draws of points: which sets of intermediate stages are at root.
std::set<std::set<std::string>> boundaries(const Space& space, const std::vector<std::string>& stages, int draws) {
  std::set<std::set<std::string>> found;
  Random random(7);
  for (int i = 0; i < draws; ++i) found.insert(at_root(space.schedule(space.sample_by_form(random)), stages));
  return found;
}

TEST(Fusion, a_chain_of_three_stages_has_its_four_ways_to_be_cut_into_loop_nests) {
  const SketchSubject subject = read_subject("gate_chain()");
  EXPECT_EQ(boundaries(space_of(subject), {"silu", "gated"}, 2000), (std::set<std::set<std::string>>{{}, {"silu"}, {"gated"}, {"silu", "gated"}}));
}

TEST(Fusion, a_stage_at_root_is_a_nest_of_its_own_that_others_are_computed_in) {
  const SketchSubject subject = read_subject("blur_twice()");
  const Space space = space_of(subject);
  const Legality legality(subject.algorithm, &subject.problem);
  Random random(9);
  bool found = false;
  for (int i = 0; i < 2000; ++i) {
    const Schedule schedule = space.schedule(space.sample_by_form(random));
    for (const Directive& directive : schedule.directives) {
      if (directive.stage == "down" && directive.name == "compute_at") found = found || std::get<std::string>(directive.arguments[0]) == "across";
    }
  }
  EXPECT_TRUE(found) << "down at a loop of across, which is at root";
}

TEST(Fusion, quantising_into_a_product_has_every_boundary) {
  const SketchSubject subject = read_subject("quantised_product()");
  const std::vector<std::string> stages = {"largest", "quantised", "product"};
  std::set<std::set<std::string>> all;
  for (unsigned cut = 0; cut < 8; ++cut) {
    std::set<std::string> roots;
    for (unsigned s = 0; s < 3; ++s) {
      if ((cut >> s & 1u) != 0) roots.insert(stages[s]);
    }
    all.insert(roots);
  }
  // The largest elements are read twice, to quantise and to scale back: they share a nest with both or have one of their own.
  const std::set<std::set<std::string>> found = boundaries(space_of(subject), stages, 4000);
  for (const std::set<std::string>& roots : all) {
    const bool is_shared = !roots.contains("product") && !roots.contains("quantised");
    EXPECT_EQ(found.contains(roots), is_shared || roots.contains("largest")) << ::testing::PrintToString(roots);
  }
}

TEST(Fusion, a_stage_is_not_computed_anew_in_loops_that_its_region_does_not_follow) {
  // Rows of quantised are read over the whole of k: computed once a row of tiles, not once a tile.
  const SketchSubject subject = read_subject("quantised_product()");
  const Space space = space_of(subject);
  for (const KnobDeclaration& knob : space.knobs()) {
    if (knob.name != "place.quantised" && knob.name != "place.largest") continue;
    EXPECT_EQ(std::count(knob.values.begin(), knob.values.end(), KnobValue(std::string("tile"))), 0) << knob.name;
    EXPECT_EQ(std::count(knob.values.begin(), knob.values.end(), KnobValue(std::string("row"))), 1) << knob.name;
  }
}

TEST(Fusion, a_table_that_every_element_looks_up_is_at_root_or_written_out) {
  const SketchSubject subject = read_subject("equalise()");
  const Space space = space_of(subject);
  for (const KnobDeclaration& knob : space.knobs()) {
    if (knob.name == "place.table") {
      EXPECT_EQ(knob.values, (std::vector<KnobValue>{std::string("inline"), std::string("root")}));
    }
    EXPECT_NE(knob.name, "place.histogram") << "its only place is root";
  }
}

}  // namespace
}  // namespace kiln::schedules
