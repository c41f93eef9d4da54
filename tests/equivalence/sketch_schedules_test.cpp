// Whatever the sketch proposes computes the same: draws of pipelines that nobody wrote a space for, on extents that tiles do not divide.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "dsl/read_algorithm.h"
#include "generators/host/host.h"
#include "schedules/sketch.h"
#include "tests/equivalence/trial.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

constexpr std::uint64_t kSeed = 20261130;
constexpr int kDraws = 12;  // of each problem

const std::vector<std::string>& problems() {
  static const std::vector<std::string> kProblems = {
      "harris_like(input.0=71, input.1=41, output.0=67, output.1=37)",
      "blur_twice(input.0=67, input.1=37, output.0=67, output.1=37)",
      "pyramid_detail(input.0=70, input.1=41, output.0=70, output.1=41)",
      "equalise(input.0=67, input.1=37, output.0=67, output.1=37)",
      "picture_and_sums(input.0=67, input.1=37, picture.0=67, picture.1=37, sums.0=67)",
      "recursive(input.0=67, input.1=37, output.0=67, output.1=37)",
      "gate_chain(a.0=67, a.1=37, b.0=67, b.1=37, output.0=67, output.1=37)",
      "quantised_product(A.0=41, A.1=37, B.0=67, B.1=41, output.0=67, output.1=37)",
      "bare_product(A.0=41, A.1=37, B.0=67, B.1=41, C.0=67, C.1=37)",
      "interleaved(input.1=67, input.2=37, output.1=67, output.2=37)"};
  return kProblems;
}

class SketchSchedules : public testing::TestWithParam<std::string> {};

TEST_P(SketchSchedules, compile_and_equal_the_reference) {
  load_plugin(std::string(KILN_BINARY_DIR) + "/tests/plugins/libsketch_generators.so");
  const Device device = host::probe_cpu();
  const std::string name = parse_problem_text(GetParam()).operator_name;
  const Algorithm algorithm = read_algorithm(name, {}, host::target_string(device, host::Isa::native, Contract::bounded));
  const host::Loaded reference(host::build_reference(algorithm, device));
  const Subject subject(algorithm, GetParam(), reference, kSeed);
  const schedules::Space space = schedules::sketch(algorithm, subject.problem(), device);
  std::vector<schedules::Point> points;
  for (const schedules::Seed& seed : space.seeds()) points.push_back(seed.point);
  schedules::Random random(kSeed);
  for (int i = 0; i < kDraws; ++i) points.push_back(space.sample_by_form(random));
  std::map<Outcome::Kind, int> tally;
  for (const schedules::Point& point : points) {
    const Schedule schedule = space.schedule(point);
    std::printf("%s\n%s", schedules::print(point).c_str(), print(schedule).c_str());
    std::fflush(stdout);  // before the build: whatever ends the program, its schedule is known
    const Outcome outcome = try_schedule(subject, algorithm, schedule, device);
    ++tally[outcome.kind];
    std::printf("-> %c %s\n", static_cast<char>(outcome.kind), outcome.text.c_str());
    EXPECT_NE(outcome.kind, Outcome::Kind::wrong) << outcome.text << "\n" << print(schedule);
    EXPECT_NE(outcome.kind, Outcome::Kind::refused) << outcome.text << "\n" << print(schedule);
  }
  EXPECT_GT(tally[Outcome::Kind::equal] * 10, static_cast<int>(points.size()) * 9) << "most must run on this problem";
}

INSTANTIATE_TEST_SUITE_P(Generators, SketchSchedules, testing::ValuesIn(problems()),
                         [](const auto& each) { return parse_problem_text(each.param).operator_name; });

}  // namespace
}  // namespace kiln::tests
