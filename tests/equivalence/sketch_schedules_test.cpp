// Whatever the sketch proposes computes the same, and so does what edits make of it: draws of pipelines that nobody wrote a space for, and walks from
// their first seeds, on extents that tiles do not divide.
#include <gtest/gtest.h>

#include <cstdio>

#include "dsl/legality.h"
#include "dsl/read_algorithm.h"
#include "generators/host/host.h"
#include "schedules/edits.h"
#include "schedules/sketch.h"
#include "tests/equivalence/trial.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

constexpr std::uint64_t kSeed = 20261130;
constexpr std::size_t kDraws = 12, kEdits = 4;  // of each problem

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

// One legal edit after the other, each of the schedule before.
std::vector<Schedule> walk(Schedule from, const Algorithm& algorithm, const Problem& problem, const Device& device, schedules::Random& random) {
  const schedules::Editor editor(algorithm, problem, device);
  const Legality legality(algorithm, &problem);
  std::vector<Schedule> walked;
  for (std::size_t looks = 0; walked.size() < kEdits && looks < 100 * kEdits; ++looks) {
    const std::vector<schedules::Edit> edits = editor.edits(from);
    if (edits.empty()) break;
    const Schedule& next = edits[random.below(edits.size())].schedule;
    if (legality.find_illegal(next)) continue;
    from = next;
    walked.push_back(from);
  }
  return walked;
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
  std::vector<Schedule> all;
  for (const schedules::Seed& seed : space.seeds()) all.push_back(space.schedule(seed.point));
  schedules::Random random(kSeed);
  for (std::size_t i = 0; i < kDraws; ++i) all.push_back(space.schedule(space.sample_by_form(random)));
  const std::vector<Schedule> edited = walk(all.front(), algorithm, subject.problem(), device, random);
  EXPECT_EQ(edited.size(), kEdits);
  const std::size_t drawn = all.size();
  all.insert(all.end(), edited.begin(), edited.end());
  std::size_t equal = 0;  // of those drawn; an edit's tail may ask for more than the buffers of this problem have
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Schedule& schedule = all[i];
    std::printf("%s", print(schedule).c_str());
    std::fflush(stdout);  // before the build: whatever ends the program, its schedule is known
    const Outcome outcome = try_schedule(subject, algorithm, schedule, device);
    equal += i < drawn && outcome.kind == Outcome::Kind::equal;
    std::printf("-> %c %s\n", static_cast<char>(outcome.kind), outcome.text.c_str());
    EXPECT_NE(outcome.kind, Outcome::Kind::wrong) << outcome.text << "\n" << print(schedule);
    EXPECT_NE(outcome.kind, Outcome::Kind::refused) << outcome.text << "\n" << print(schedule);
  }
  EXPECT_GT(equal * 10, drawn * 9) << "most must run on this problem";
}

INSTANTIATE_TEST_SUITE_P(Generators, SketchSchedules, testing::ValuesIn(problems()),
                         [](const auto& each) { return parse_problem_text(each.param).operator_name; });

}  // namespace
}  // namespace kiln::tests
