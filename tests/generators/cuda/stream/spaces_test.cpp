// Every point of the CUDA spaces is a schedule that the skeleton can honour: all seeds, a point for each value of each knob, and random ones.
#include <gtest/gtest.h>

#include <set>

#include "dsl/error.h"
#include "dsl/problem.h"
#include "generators/cuda/lower.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/generators/cuda/stream/algorithms.h"
#include "tests/generators/cuda/stream/points.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

constexpr std::uint64_t kSeed = 20261130;

const Device& gpu() { return schedules::device_named("h200"); }
const Device& older_gpu() { return schedules::device_named("a100"); }

void expect_honoured(const Algorithm& algorithm, const std::string& problem_text, const std::string& space_name, std::size_t fewest, const Device& device = gpu()) {
  const Problem problem = resolve(parse_problem_text(problem_text), algorithm);
  const auto space = schedules::space_for(algorithm, problem, device);
  ASSERT_TRUE(space) << problem_text;
  EXPECT_EQ(space->name(), space_name);
  ASSERT_FALSE(space->seeds().empty());
  EXPECT_GE(space->approximate_count(), static_cast<double>(fewest));
  schedules::Random random(test_seed(kSeed));
  for (const std::string& schedule : points_of(*space, random)) {
    try {
      const generators::cuda::Program program = generators::cuda::lower(algorithm, parse_schedule(schedule), problem, capability_of(*device.gpu));
      for (const auto& kernel : program.kernels) EXPECT_LE(kernel.plan.shared_bytes(), device.gpu->block_shared_bytes) << schedule;
    } catch (const ScheduleError& error) {
      ADD_FAILURE() << problem_text << "\n" << schedule << error.what();
    }
  }
}

TEST(CudaSpaces, of_lines_hold_only_what_the_skeleton_honours) {
  expect_honoured(gate(), "gate(m=1024, n=12288)", "lines_cuda", 200);
  expect_honoured(gate(), "gate(m=1, n=7)", "lines_cuda", 200);
}

TEST(CudaSpaces, of_rows_hold_only_what_the_skeleton_honours) {
  expect_honoured(norm(), "norm(m=7239, n=4096)", "rows_cuda", 200);
  expect_honoured(norm(), "norm(m=1, n=12288)", "rows_cuda", 200);
  expect_honoured(norm(), "norm(m=5, n=33)", "rows_cuda", 1);
  expect_honoured(shares(), "shares(m=4096, n=8192)", "rows_cuda", 200);
  expect_honoured(scaled_rows(), "scaled_rows(m=64, n=12288)", "rows_cuda", 200);
}

TEST(CudaSpaces, of_turned_matrices_hold_only_what_the_skeleton_honours) { expect_honoured(turn(), "turn(m=4096, n=4096)", "turned_cuda", 50); }

TEST(CudaSpaces, of_sums_hold_only_what_the_skeleton_honours) {
  expect_honoured(dot_by_terms(), "dot_by_terms(m=1, n=12288, k=4096)", "sums_cuda", 200);
  expect_honoured(dot_by_columns(), "dot_by_columns(m=2, n=4096, k=12288)", "sums_cuda", 200);
  expect_honoured(dot_by_columns(), "dot_by_columns(m=8, n=64, k=36)", "sums_cuda", 50);
}

// Without dependent launches and clusters.
TEST(CudaSpaces, of_an_older_device_hold_only_what_it_honours) {
  expect_honoured(gate(), "gate(m=1024, n=12288)", "lines_cuda", 100, older_gpu());
  expect_honoured(norm(), "norm(m=1, n=12288)", "rows_cuda", 100, older_gpu());
  expect_honoured(shares(), "shares(m=4096, n=8192)", "rows_cuda", 100, older_gpu());
  expect_honoured(turn(), "turn(m=4096, n=4096)", "turned_cuda", 25, older_gpu());
  expect_honoured(dot_by_terms(), "dot_by_terms(m=1, n=12288, k=4096)", "sums_cuda", 100, older_gpu());
  expect_honoured(dot_by_columns(), "dot_by_columns(m=2, n=4096, k=12288)", "sums_cuda", 100, older_gpu());
}

// How a schedule's kernels are launched, in their order: "pd" is two, of which the second may begin before the first has ended.
std::string launches_of(const Algorithm& algorithm, const std::string& schedule, const Problem& problem) {
  std::string launches;
  for (const auto& kernel : generators::cuda::lower(algorithm, parse_schedule(schedule), problem).kernels) launches += kernel.plan.is_dependent() ? 'd' : 'p';
  return launches;
}

std::set<std::string> launches_in_space(const Algorithm& algorithm, const std::string& problem_text) {
  const Problem problem = resolve(parse_problem_text(problem_text), algorithm);
  schedules::Random random(test_seed(kSeed));
  std::set<std::string> launches;
  for (const std::string& schedule : points_of(*schedules::space_for(algorithm, problem, gpu()), random)) launches.insert(launches_of(algorithm, schedule, problem));
  return launches;
}

// The first of several is never launched while the call before, which still reads what it writes, runs.
TEST(CudaSpaces, of_chains_hold_one_kernel_and_several_of_which_the_later_ones_are_launched_either_way) {
  const std::set<std::string> of_two = {"p", "d", "pp", "pd"};
  EXPECT_EQ(launches_in_space(norm(), "norm(m=1024, n=4096)"), of_two);
  EXPECT_EQ(launches_in_space(scaled_rows(), "scaled_rows(m=64, n=12288)"), of_two);
  const std::set<std::string> of_three = {"p", "d", "pp", "pd", "ppp", "pdd"};
  EXPECT_EQ(launches_in_space(gate(), "gate(m=1024, n=12288)"), of_three);
  EXPECT_EQ(launches_in_space(shares(), "shares(m=4096, n=8192)"), of_three);
}

TEST(CudaSpaces, of_chains_begin_with_one_kernel_and_with_a_kernel_a_step) {
  const auto seeds_of = [](const Algorithm& algorithm, const char* problem_text) {
    const Problem problem = resolve(parse_problem_text(problem_text), algorithm);
    const auto space = schedules::space_for(algorithm, problem, gpu());
    std::set<std::string> launches;
    for (const schedules::Seed& seed : space->seeds()) launches.insert(launches_of(algorithm, print(space->schedule(seed.point)), problem));
    return launches;
  };
  EXPECT_EQ(seeds_of(norm(), "norm(m=1024, n=4096)"), (std::set<std::string>{"p", "d", "pd"}));
  EXPECT_EQ(seeds_of(shares(), "shares(m=4096, n=8192)"), (std::set<std::string>{"p", "d", "pdd"}));
  EXPECT_EQ(seeds_of(scaled_rows(), "scaled_rows(m=64, n=12288)"), (std::set<std::string>{"p", "d", "pd"}));
}

TEST(CudaSpaces, of_many_rows_say_what_removed_the_last_point) {
  const Algorithm algorithm = dot_by_terms();
  const auto space = schedules::space_for(algorithm, resolve(parse_problem_text("dot_by_terms(m=16, n=64, k=64)"), algorithm), schedules::device_named("sm_80"));
  ASSERT_TRUE(space);
  EXPECT_EQ(space->unsatisfiable(), "space `sums_cuda` has no points: knob `accesses` has no value left; the last was removed by: sums of a few rows stay in registers: 8 at most");
}

TEST(CudaSpaces, there_is_none_for_what_no_kernel_computes) {
  const Algorithm algorithm = shift();
  EXPECT_FALSE(schedules::space_for(algorithm, resolve(parse_problem_text("shift(m=4, n=64, w=65)"), algorithm), gpu()));
}

}  // namespace
}  // namespace kiln::tests
