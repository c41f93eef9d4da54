// Directives read back from scheduled pipelines: applied to a fresh pipeline they lower to the same program.
#include "dsl/read_schedule.h"

#include <gtest/gtest.h>

#include <map>

#include "dsl/apply.h"
#include "dsl/error.h"
#include "dsl/legality.h"
#include "dsl/read_algorithm.h"
#include "dsl/rebuild.h"
#include "generators/operators/operators.h"
#include "tests/dsl/halide_runs.h"
#include "tests/support/random_schedule.h"

namespace kiln {
namespace {

using tests::program_of;
using tests::test_target;

std::string program_of(const Algorithm& algorithm, const Schedule& schedule) {
  Pipeline pipeline = rebuild(algorithm);
  apply(schedule, pipeline);
  return program_of(pipeline);
}

Schedule read_back(const Algorithm& algorithm, const Schedule& schedule) {
  Pipeline pipeline = rebuild(algorithm);
  apply(schedule, pipeline);
  return read_schedule(pipeline.pipeline, algorithm);
}

Algorithm read(const std::string& generator, const std::map<std::string, std::string>& params = {}) {
  generators::shipped_operators();
  static const bool loaded = (load_plugin(tests::plugin("plain_generator")), load_plugin(tests::plugin("construct_generators")), true);
  EXPECT_TRUE(loaded);
  return read_algorithm(generator, params, test_target());
}

TEST(ReadSchedule, says_what_was_applied) {
  const Algorithm algorithm = read("matmul", {{"epilogue", "relu"}});
  const Schedule applied = parse_schedule(
      "y.tile(n, m, no, mo, ni, mi, 32, 6, GuardWithIf).reorder(ni, mi, mo, no).parallel(no).vectorize(ni, 8).unroll(mi)\n"
      "c.compute_at(y, mo).vectorize(n, 8).unroll(m)\n"
      "c.update(0).split(k, ko, ki, 4).reorder(n, m, ki, ko).vectorize(n, 8).unroll(m).unroll(ki)\n"
      "B.in().compute_at(y, no).store_in(Heap).vectorize(d0, 8)\n");
  EXPECT_EQ(print(read_back(algorithm, applied)),
            "y.split(n, no, ni, 32, GuardWithIf).split(m, mo, mi, 6, GuardWithIf).split(ni, ni, ni_in, 8, ShiftInwards).reorder(ni_in, ni, mi, mo, no)"
            ".vectorize(ni_in).unroll(mi).parallel(no)\n"
            "c.compute_at(y, mo).split(n, n, n_in, 8, ShiftInwards).vectorize(n_in).unroll(m)\n"
            "c.update(0).split(k, ko, ki, 4, GuardWithIf).split(n, n, n_in, 8, RoundUp).reorder(n_in, n, m, ki, ko).vectorize(n_in).unroll(m).unroll(ki)\n"
            "B.in().compute_at(y, no).store_in(Heap).split(d0, d0, d0_in, 8, ShiftInwards).vectorize(d0_in)\n");
}

TEST(ReadSchedule, says_what_was_factored_from_a_reduction) {
  const Algorithm algorithm = read("matmul");
  for (const char* applied : {"c.compute_root()\nc.update(0).split(k, ko, ki, 8, GuardWithIf).rfactor(ko, part).reorder(ko, n, m)\n"
                              "c_intm.compute_root().parallel(part)\nc_intm.update(0).reorder(ki, n, m, part).parallel(part)\n",
                              "c.compute_root()\nc.update(0).split(k, ko, ki, 8, GuardWithIf).rfactor(ki, lane).reorder(ki, n, m)\n"
                              "c_intm.compute_at(c, m)\nc_intm.update(0).reorder(lane, ko, n, m)\n"})
    EXPECT_EQ(print(read_back(algorithm, parse_schedule(applied))), applied);
}

// Loops that neither the author nor the schedule named differ from process to process in Halide; here they do not.
TEST(ReadSchedule, of_an_author_has_the_same_words_every_time) {
  const Algorithm algorithm = read("exposure");
  ASSERT_FALSE(algorithm.own_pipeline.empty());
  const std::string first = print(read_schedule(rebuild_own(algorithm).pipeline, algorithm));
  EXPECT_EQ(print(read_schedule(rebuild_own(read("exposure")).pipeline, algorithm)), first);
  EXPECT_EQ(print(parse_schedule(first)), first);
}

TEST(ReadSchedule, of_an_author_lowers_to_the_same_program) {
  const Algorithm algorithm = read("exposure");
  Pipeline own = rebuild_own(algorithm);
  const Schedule said = read_schedule(own.pipeline, algorithm);
  EXPECT_EQ(program_of(algorithm, said), program_of(own)) << print(said);
}

Schedule without_what_cannot_be_said(Schedule schedule) {
  std::erase_if(schedule.directives, [](const Directive& d) { return !d.condition.empty() || d.name == "specialize" || d.name == "prefetch"; });
  return schedule;
}

TEST(ReadSchedule, any_legal_schedule_that_can_be_said_lowers_to_the_same_program_and_reads_back_as_itself) {
  constexpr int kDrawn = 25;
  std::mt19937_64 random(tests::test_seed(41));
  int said = 0, drawn = 0;
  for (const auto& [text, params] : std::vector<std::pair<std::string, std::map<std::string, std::string>>>{
           {"matmul(m=70, n=96, k=40, epilogue=relu)", {{"epilogue", "relu"}}}, {"unsharp(w=96, h=70, c=3)", {}}, {"rmsnorm(m=40, n=96)", {}}}) {
    const Algorithm algorithm = read(text.substr(0, text.find('(')), params);
    const Problem problem = resolve(parse_problem_text(text), algorithm);
    for (int i = 0; i < kDrawn; ++i, ++drawn) {
      const Schedule applied = without_what_cannot_be_said(tests::random_legal_schedule(algorithm, problem, random));
      if (find_illegal(applied, algorithm, &problem)) continue;
      Schedule back;
      try {
        back = read_back(algorithm, applied);
      } catch (const ScheduleError& error) {
        EXPECT_NE(std::string(error.what()).find("cannot be said in directives"), std::string::npos) << error.what();
        continue;
      }
      ++said;
      EXPECT_EQ(program_of(algorithm, back), program_of(algorithm, applied)) << print(applied) << "\nread back as\n" << print(back);
      EXPECT_EQ(print(read_back(algorithm, back)), print(back));
    }
  }
  std::printf("%d of %d schedules can be said\n", said, drawn);
  EXPECT_GE(2 * said, drawn);
}

TEST(ReadSchedule, what_cannot_be_said_is_named) {
  const Algorithm algorithm = read("matmul");
  const auto words = [&](const std::string& schedule) {
    try {
      read_back(algorithm, parse_schedule(schedule));
    } catch (const ScheduleError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(words("y.specialize(A.dim(0).extent() >= 16).vectorize(n, 8)\n"), "the schedule of y cannot be said in directives: specializations");
  EXPECT_EQ(words("c.compute_root()\nc.update(0).prefetch(B, k, k, 2)\n"), "the schedule of c cannot be said in directives: prefetches");
  EXPECT_EQ(words("c.compute_root()\nc.update(0).split(k, ko, ki, 8).split(ki, kj, kl, 2).rfactor(kj, part)\nc_intm.compute_root()\n"),
            "the schedule of c cannot be said in directives: an rfactor of more than one split loop");
}

}  // namespace
}  // namespace kiln
