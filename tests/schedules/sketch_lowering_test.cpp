// What the sketch and edits propose, Halide lowers: a fixed draw of points of every pipeline and a walk from its first seed, lowered and not compiled.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "dsl/apply.h"
#include "dsl/error.h"
#include "dsl/legality.h"
#include "generators/host/diagnostics.h"
#include "generators/host/lowered.h"
#include "schedules/devices.h"
#include "schedules/edits.h"
#include "schedules/sketch.h"
#include "tests/schedules/sketch_subjects.h"

namespace kiln::schedules {
namespace {

namespace host = generators::host;

// Why the schedule is no candidate: illegal, or refused by Halide. Empty when it lowers.
std::string fault_of(const SketchSubject& subject, const Legality& legality, const Schedule& schedule) {
  if (const auto illegal = legality.find_illegal(schedule)) return "illegal: " + illegal->message;
  host::Diagnostics diagnostics;
  try {
    Pipeline pipeline = rebuild(subject.algorithm);
    apply(schedule, pipeline);
    host::lower(pipeline, "candidate", Halide::Target(kTarget), subject.algorithm, subject.problem);
  } catch (const Halide::Error& error) {
    return error.what();
  } catch (const ScheduleError& error) {
    return error.what();
  }
  const std::string* fatal = diagnostics.fatal();
  return fatal ? *fatal : "";
}

// Points drawn of each space: KILN_SKETCH_DRAWS, else a number that a test run has time for.
int draws() {
  const char* text = std::getenv("KILN_SKETCH_DRAWS");
  return text ? std::atoi(text) : 12;
}

TEST(SketchLowering, at_most_one_point_in_a_hundred_is_illegal_or_refused_by_halide) {
  int tried = 0, refused = 0;
  for (const std::string& text : lowered_problems()) {
    const SketchSubject subject = read_subject(text);
    const Space space = sketch(subject.algorithm, subject.problem, device_named("x86-64-v3"));
    const Legality legality(subject.algorithm, &subject.problem);
    ASSERT_EQ(space.unsatisfiable(), std::nullopt) << text;
    ASSERT_FALSE(space.seeds().empty()) << text;
    for (const Seed& seed : space.seeds()) EXPECT_EQ(fault_of(subject, legality, space.schedule(seed.point)), "") << text << ", " << seed.origin << "\n" << print(space.schedule(seed.point));
    Random random(41);
    int here = 0;
    for (int i = 0; i < draws(); ++i) {
      const Point point = space.sample_by_form(random);
      const std::string fault = fault_of(subject, legality, space.schedule(point));
      ++tried;
      if (fault.empty()) continue;
      ++here;
      std::printf("%s: %s\n%s\n%s\n", text.c_str(), fault.c_str(), print(point).c_str(), print(space.schedule(point)).c_str());
    }
    std::printf("%s: %.3g points, %d of %d refused\n", text.c_str(), space.approximate_count(), here, draws());
    std::fflush(stdout);
    refused += here;
  }
  EXPECT_LE(refused * 100, tried);
}

// Walks from the first seed, one legal edit after the other. What Halide refuses here, legality should have.
TEST(EditLowering, at_most_one_legal_edit_in_a_hundred_is_refused_by_halide) {
  const int walked = (draws() + 1) / 2;
  int tried = 0, refused = 0;
  for (const std::string& text : lowered_problems()) {
    const SketchSubject subject = read_subject(text);
    const Device device = device_named("x86-64-v3");
    const Space space = sketch(subject.algorithm, subject.problem, device);
    const Editor editor(subject.algorithm, subject.problem, device);
    const Legality legality(subject.algorithm, &subject.problem);
    Schedule schedule = space.schedule(space.seeds().front().point);
    Random random(43);
    int steps = 0;
    for (int look = 0; steps < walked && look < 40 * walked; ++look) {
      const std::vector<Edit> edits = editor.edits(schedule);
      ASSERT_FALSE(edits.empty()) << print(schedule);
      const Schedule& next = edits[random.below(edits.size())].schedule;
      if (legality.find_illegal(next)) continue;
      ++steps;
      ++tried;
      const std::string fault = fault_of(subject, legality, next);
      if (fault.empty()) {
        schedule = next;
        continue;
      }
      ++refused;
      std::printf("%s: %s\n%s\n", text.c_str(), fault.c_str(), print(next).c_str());
    }
    EXPECT_EQ(steps, walked) << text << ": hardly an edit of this is legal\n" << print(schedule);
  }
  std::printf("%d of %d edits refused\n", refused, tried);
  EXPECT_LE(refused * 100, tried);
}

}  // namespace
}  // namespace kiln::schedules
