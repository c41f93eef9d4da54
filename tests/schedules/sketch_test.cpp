// The sketch over generators that nobody wrote a space for: Tuples, several outputs, scans, scatters, boundary conditions, narrow types.
#include "schedules/sketch.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "dsl/legality.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/schedules/sketch_subjects.h"

namespace kiln::schedules {
namespace {

// The extents by dimension, the same for every argument.
Problem problem_of(const Algorithm& algorithm, const std::vector<std::int64_t>& extents) {
  ProblemText text{algorithm.generator, {}};
  for (const std::string& symbol : algorithm.symbol_order) {
    const auto dimension = static_cast<std::size_t>(algorithm.symbols.at(symbol).at(0).dimension);
    text.items.push_back({symbol, std::to_string(extents.at(dimension)), 0});
  }
  return resolve(text, algorithm);
}

class SketchOf : public testing::TestWithParam<const char*> {};

TEST_P(SketchOf, draws_legal_schedules_for_one_element_a_prime_and_a_picture) {
  const Algorithm algorithm = read_algorithm_of({GetParam(), {}});
  for (const std::vector<std::int64_t>& extents : {std::vector<std::int64_t>{1, 1, 1}, {37, 19, 3}, {640, 480, 3}}) {
    const Problem problem = problem_of(algorithm, extents);
    const Legality legality(algorithm, &problem);
    for (const char* device : {"x86-64-v2", "zen4"}) {
      const std::optional<Space> space = space_for(algorithm, problem, device_named(device));
      ASSERT_TRUE(space.has_value());
      ASSERT_EQ(space->unsatisfiable(), std::nullopt);
      ASSERT_FALSE(space->seeds().empty());
      for (const Seed& seed : space->seeds()) {
        const auto illegal = legality.find_illegal(space->schedule(seed.point));
        EXPECT_FALSE(illegal.has_value()) << seed.origin << ": " << illegal->message << "\n" << print(space->schedule(seed.point));
      }
      Random random(23);
      int illegal_draws = 0;
      std::string first;
      for (int i = 0; i < 200; ++i) {
        const Schedule schedule = space->schedule(space->sample_by_form(random));
        EXPECT_EQ(parse_schedule(print(schedule)), schedule);
        const auto illegal = legality.find_illegal(schedule);
        if (illegal && illegal_draws++ == 0) first = illegal->message + "\n" + print(schedule);
      }
      EXPECT_LE(illegal_draws, 2) << "at most 1 %; the first: " << first;
    }
    const auto illegal = find_illegal(any_extent_schedule(algorithm, device_named("x86-64-v3")), algorithm, nullptr);
    EXPECT_FALSE(illegal.has_value()) << illegal->message;
  }
}

INSTANTIATE_TEST_SUITE_P(Generators, SketchOf, testing::Values("exposure", "tuple_argmax", "arrays", "updates", "halves", "names", "mathematics", "harris_like", "blur_twice", "pyramid_detail", "equalise",
                                         "picture_and_sums", "recursive", "gate_chain", "quantised_product", "bare_product", "interleaved"),
                         [](const auto& test) { return std::string(test.param); });

// The split with ShiftInwards whose tiles the threads share out, as text; empty when there is none. Two threads would store to one element there.
std::string overlapping_tasks(const Schedule& schedule) {
  std::set<std::pair<std::string, std::string>> shared;  // stage and loop
  for (auto directive = schedule.directives.rbegin(); directive != schedule.directives.rend(); ++directive) {
    const auto word = [&](std::size_t i) { return std::pair(directive->stage, std::get<std::string>(directive->arguments[i])); };
    if (directive->name == "parallel") shared.insert(word(0));
    if (directive->name == "fuse" && shared.contains(word(2))) shared.insert({word(0), word(1)});
    if (directive->name != "split" || !shared.contains(word(1))) continue;
    if (word(4).second == "ShiftInwards") return print(*directive);
    shared.insert(word(0));
  }
  return "";
}

TEST_P(SketchOf, gives_no_two_tasks_the_same_element) {
  const Algorithm algorithm = read_algorithm_of({GetParam(), {}});
  const Space space = sketch(algorithm, problem_of(algorithm, {637, 479, 3}), device_named("zen4"));
  Random random(27);
  for (int i = 0; i < 100; ++i) {
    const Schedule schedule = space.schedule(space.sample_by_form(random));
    EXPECT_EQ(overlapping_tasks(schedule), "") << print(schedule);
  }
}

TEST(Sketch, most_values_of_most_knobs_are_a_step_away_and_every_step_is_a_legal_schedule) {
  for (const char* text : {"unsharp(w=1536, h=1024, c=3)", "harris_like()", "conv(co=64, ci=64, w=96, h=64)", "quantised_product()"}) {
    const SketchSubject subject = read_subject(text);
    const Legality legality(subject.algorithm, &subject.problem);
    const Space space = sketch(subject.algorithm, subject.problem, device_named("zen4"));
    Random random(33);
    std::size_t values = 0, steps = 0, alone = 0;
    for (int i = 0; i < 5; ++i) {
      const Point point = space.sample_by_form(random);
      for (std::size_t k = 0; k < space.knobs().size(); ++k) {
        if (!space.knobs()[k].is_derived() && point.is_active(k)) values += space.knobs()[k].values.size() - 1;
      }
      const std::vector<Point> near = space.steps(point);
      steps += near.size();
      alone += space.neighbours(point).size();
      for (std::size_t n = 0; n < near.size(); n += 5) {
        const auto illegal = legality.find_illegal(space.schedule(near[n]));
        EXPECT_FALSE(illegal.has_value()) << illegal->message << "\n" << print(near[n]);
      }
    }
    std::printf("%s: %zu of %zu values are a step away, %zu of them with nothing else changed\n", text, steps, values, alone);
    EXPECT_GE(steps * 10, values * 8) << text;
    EXPECT_GE(steps, alone) << text;
  }
}

TEST(Sketch, overlapping_tasks_are_noticed) {
  EXPECT_EQ(overlapping_tasks(parse_schedule("y.split(x, xo, xi, 8, ShiftInwards).split(xo, s, xo, 4, GuardWithIf).fuse(s, c, task).parallel(task)")),
            "y.split(x, xo, xi, 8, ShiftInwards)");
  EXPECT_EQ(overlapping_tasks(parse_schedule("y.split(x, xo, xi, 8, ShiftInwards).split(y, yo, yi, 4, GuardWithIf).parallel(yo)")), "");
}

ExpressionPtr node(Op op, const std::string& name, std::vector<ExpressionPtr> args, std::int64_t value = 0) {
  return std::make_shared<const Expression>(Expression{op, op == Op::load ? kFloat32 : kInt32, name, 0, value, std::move(args)});
}

// `count` stages, each the sum of the one before at x and x + 1; the last is the output.
Algorithm chain_of(int count) {
  Algorithm algorithm;
  algorithm.generator = "chain";
  Argument out;
  out.name = "out";
  out.is_output = true;
  out.rank = 1;
  out.estimates = {Interval{0, 1000}};
  algorithm.arguments = {out};
  algorithm.symbols = {{"x", {Axis{"out", 0}}}};
  algorithm.symbol_order = {"x"};
  const ExpressionPtr x = node(Op::loop, "x", {}), next = node(Op::add, "", {x, node(Op::constant, "", {}, 1)});
  for (int i = 0; i < count; ++i) {
    const std::string before = "s" + std::to_string(i - 1);
    const ExpressionPtr value = i == 0 ? x : node(Op::add, "", {node(Op::load, before, {x}), node(Op::load, before, {next})});
    algorithm.stages.push_back({"s" + std::to_string(i), {"x"}, {kFloat32}, {value}, {}});
  }
  algorithm.outputs = {algorithm.stages.back().name};
  return algorithm;
}

TEST(Sketch, a_pipeline_of_sixty_stages_is_still_counted_and_sampled) {
  const Algorithm algorithm = chain_of(60);
  const Problem problem = problem_of(algorithm, {1000});
  const Space space = sketch(algorithm, problem, device_named("zen4"));
  EXPECT_GT(space.approximate_count(), 1e4);
  Random random(29);
  for (int i = 0; i < 50; ++i) {
    const Schedule schedule = space.schedule(space.sample_by_form(random));
    const auto illegal = find_illegal(schedule, algorithm, &problem);
    EXPECT_FALSE(illegal.has_value()) << illegal->message;
  }
}

TEST(Sketch, an_inlined_chain_is_not_written_out_more_than_a_dozen_times) {
  const Algorithm algorithm = chain_of(6);
  const Space space = sketch(algorithm, problem_of(algorithm, {1000}), device_named("zen4"));
  Random random(31);
  for (int i = 0; i < 200; ++i) {
    const Point point = space.sample_by_form(random);
    std::int64_t copies = 1, most = 1;
    for (std::size_t k = 0; k < space.knobs().size(); ++k) {  // places are declared from the output's side
      if (!space.knobs()[k].name.starts_with("place.")) continue;
      copies = print(point.value(k)) == "inline" ? copies * 2 : 1;
      most = std::max(most, copies);
    }
    EXPECT_LE(most, 12) << print(point);
  }
}

TEST(Sketch, a_space_names_places_by_stage) {
  const Algorithm algorithm = read_algorithm_of({"names", {}});
  const Space space = sketch(algorithm, problem_of(algorithm, {37}), device_named("zen4"));
  std::set<std::string> found;
  for (const KnobDeclaration& knob : space.knobs()) found.insert(knob.name);
  EXPECT_TRUE(found.contains("place.blur") && found.contains("place.blur#2"));
}

}  // namespace
}  // namespace kiln::schedules
