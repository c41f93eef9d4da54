// Every point of the space of products is a schedule that the ring honours and the device can run: all seeds, a point for each value of each knob, and random
// ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "dsl/error.h"
#include "dsl/problem.h"
#include "generators/cuda/lower.h"
#include "generators/cuda/predict.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/generators/cuda/stream/algorithms.h"
#include "tests/generators/cuda/stream/points.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;

constexpr std::uint64_t kSeed = 20261130;

const Device& gpu() { return schedules::device_named("h200"); }

std::string fault_of(const Algorithm& algorithm, const Problem& problem, const std::string& schedule) {
  try {
    const cuda::Program program = cuda::lower(algorithm, parse_schedule(schedule), problem);
    const auto unfit = cuda::find_unfit(program, *gpu().gpu);
    return unfit ? unfit->text : "";
  } catch (const ScheduleError& error) {
    return error.what();
  }
}

void expect_honoured(const Algorithm& algorithm, const std::string& problem_text, std::size_t fewest, const char* name = "products_cuda") {
  SCOPED_TRACE(problem_text);
  const Problem problem = resolve(parse_problem_text(problem_text), algorithm);
  const auto space = schedules::space_for(algorithm, problem, gpu());
  ASSERT_TRUE(space);
  EXPECT_EQ(space->name(), name);
  ASSERT_FALSE(space->seeds().empty()) << space->unsatisfiable().value_or("");
  EXPECT_GE(space->approximate_count(), static_cast<double>(fewest));
  schedules::Random random(test_seed(kSeed));
  for (const std::string& schedule : points_of(*space, random)) EXPECT_EQ(fault_of(algorithm, problem, schedule), "") << schedule;
}

TEST(RingSpaces, hold_only_what_the_skeleton_honours_and_the_device_runs) {
  for (const char* extents : {"(m=3, n=4096, k=12288)", "(m=16, n=12288, k=4096)", "(m=64, n=12288, k=4096)", "(m=256, n=4096, k=12288)", "(m=1024, n=12288, k=4096)", "(m=7239, n=12288, k=4096)",
                              "(m=8192, n=8192, k=8192)", "(m=200, n=264, k=584)"}) {
    expect_honoured(dot_by_terms(), std::string("dot_by_terms") + extents, 1000);
    expect_honoured(dot_by_columns(), std::string("dot_by_columns") + extents, 1000);
  }
  for (const char* extents : {"(m=16, n=12288, k=4096)", "(m=128, n=4096, k=12288)", "(m=4096, n=12288, k=4096)"}) expect_honoured(dot_of_codes(), std::string("dot_of_codes") + extents, 1000);
}

TEST(RingSpaces, of_two_products_hold_only_what_the_skeleton_honours_and_the_device_runs) {
  for (const char* extents : {"(m=1, n=12288, k=4096)", "(m=16, n=12288, k=4096)", "(m=64, n=12288, k=4096)", "(m=128, n=4096, k=1024)", "(m=1024, n=12288, k=4096)", "(m=7239, n=12288, k=4096)",
                              "(m=200, n=264, k=584)"}) {
    expect_honoured(gated_by_terms(), std::string("gated_by_terms") + extents, 1000, "dual_products_cuda");
    expect_honoured(gated_by_columns(), std::string("gated_by_columns") + extents, 1000, "dual_products_cuda");
  }
}

TEST(RingSpaces, of_a_feed_forward_layer_hold_only_what_the_skeleton_honours_and_the_device_runs) {
  for (const char* extents : {"(m=16, h=4096, n=12288, k=4096)", "(m=128, h=4096, n=12288, k=4096)", "(m=4096, h=4096, n=12288, k=4096)", "(m=200, h=328, n=264, k=584)"})
    expect_honoured(feed_forward(), std::string("feed_forward") + extents, 1000, "ffn_cuda");
}

// Of how many kernels the programs are that a space begins with.
std::set<std::size_t> kernels_of_seeds(const Algorithm& algorithm, const std::string& problem) {
  const Problem resolved = resolve(parse_problem_text(problem), algorithm);
  const auto space = schedules::space_for(algorithm, resolved, gpu());
  std::set<std::size_t> kernels;
  for (const schedules::Seed& seed : space->seeds()) kernels.insert(cuda::lower(algorithm, space->schedule(seed.point), resolved).kernels.size());
  return kernels;
}

TEST(RingSpaces, of_several_products_begin_with_every_boundary_of_their_kernels) {
  for (const char* extents : {"(m=16, n=12288, k=4096)", "(m=4096, n=12288, k=4096)"})
    EXPECT_EQ(kernels_of_seeds(gated_by_columns(), std::string("gated_by_columns") + extents), (std::set<std::size_t>{1, 3})) << extents;
  for (const char* extents : {"(m=16, h=4096, n=12288, k=4096)", "(m=4096, h=4096, n=12288, k=4096)"})
    EXPECT_EQ(kernels_of_seeds(feed_forward(), std::string("feed_forward") + extents), (std::set<std::size_t>{2, 4})) << extents;
}

TEST(RingSpaces, hold_plain_sums_of_codes_where_the_contract_is_free) {
  Algorithm algorithm = dot_of_codes();
  const char* problem = "dot_of_codes(m=4096, n=12288, k=4096)";
  const auto seeds = [&] {
    const auto space = schedules::space_for(algorithm, resolve(parse_problem_text(problem), algorithm), gpu());
    std::vector<std::string> texts;
    for (const schedules::Seed& seed : space->seeds()) texts.push_back(print(space->schedule(seed.point)));
    return texts;
  };
  const auto say = [](const std::string& words) { return [=](const std::string& text) { return text.find(words) != std::string::npos; }; };
  EXPECT_TRUE(std::ranges::none_of(seeds(), say("plain")));
  EXPECT_TRUE(std::ranges::none_of(seeds(), say("pingpong")));
  algorithm.contract = Contract::free;
  EXPECT_TRUE(std::ranges::all_of(seeds(), say(".tensorize(ki, wgmma, plain)")));
  EXPECT_TRUE(std::ranges::any_of(seeds(), say("pingpong")));
  expect_honoured(algorithm, problem, 1000);
}

TEST(RingSpaces, of_rows_that_no_copy_takes_say_so) {
  const Algorithm algorithm = dot_by_terms();
  const auto space = schedules::space_for(algorithm, resolve(parse_problem_text("dot_by_terms(m=64, n=100, k=64)"), algorithm), gpu());
  ASSERT_TRUE(space);
  EXPECT_EQ(space->unsatisfiable(), "space `products_cuda` has no points: knob `operands` has no value left; the last was removed by: rows of all matrices start at 16 bytes");
}

TEST(RingSpaces, are_for_three_rows_and_more_and_for_tensor_cores_that_have_wgmma) {
  const Algorithm algorithm = dot_by_terms();
  const auto name_of = [&](const char* problem, const char* device) {
    return schedules::space_for(algorithm, resolve(parse_problem_text(problem), algorithm), schedules::device_named(device))->name();
  };
  EXPECT_EQ(name_of("dot_by_terms(m=2, n=64, k=64)", "h200"), "sums_cuda");
  EXPECT_EQ(name_of("dot_by_terms(m=3, n=64, k=64)", "h200"), "products_cuda");
  EXPECT_EQ(name_of("dot_by_terms(m=3, n=64, k=64)", "sm_80"), "sums_cuda");
}

}  // namespace
}  // namespace kiln::tests
