// The table of clocks that `kiln replay` ends with on a GPU.
#include "autotune/cli/pages/clocks.h"

#include <gtest/gtest.h>

#include <limits>

#include "autotune/cli/pages/replay.h"
#include "tests/autotune/cli/golden.h"

namespace kiln::autotune::cli {
namespace {

using generators::Reason;
using generators::Rejection;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Two kernels against one, as they were on no machine.
ReplayOutcome two_kernels() {
  ReplayOutcome outcome;
  outcome.problem = "rmsnorm(m=64, n=4096, bf16)";
  outcome.candidate = "3f2a91c00000";
  outcome.baseline_origin = "default";
  outcome.baseline = "y.rows(1, 256).vector(8)";
  outcome.baseline_ns = 2100;
  outcome.value_ns = 3050;
  outcome.to_baseline = {1.45, 1.44, 1.46, 8};
  outcome.floor = 0.004;
  outcome.clocks = ClocksOutcome{};
  outcome.clocks->clocks = {{Submission::graph, Cache::hot, 2, 80, {3050, 12}, {5210, 320}, {14100, 500}, 1980},
                            {Submission::plain, Cache::hot, 2, 80, {3410, 25}, {5480, 410}, {15300, 610}, 1980},
                            {Submission::graph, Cache::cold, 2, 120, {5120, 40}, {5330, 290}, {16800, 700}, 1965},
                            {Submission::plain, Cache::cold, 2, 64, {5490, 55}, {5510, 380}, {17900, 800}, 1965}};
  outcome.baseline_clocks = ClocksOutcome{};
  outcome.baseline_clocks->clocks = {{Submission::graph, Cache::hot, 1, 119, {2100, 8}, {4890, 300}, {11900, 450}, 1980},
                                     {Submission::plain, Cache::hot, 1, 119, {kNan, kNan}, {2750, 200}, {10200, 400}, kNan}};
  return outcome;
}

TEST(ClocksPage, stands_below_the_race) { expect_golden(print_replay(two_kernels()), "replay/clocks.txt"); }

TEST(ClocksPage, has_all_numbers_in_its_document) { expect_golden(replay_json(two_kernels()), "replay/clocks.json"); }

TEST(ClocksPage, says_why_there_are_none) {
  ClocksOutcome absent;
  absent.absent = "cuLibraryLoadData of 1263 bytes: PTX JIT compiler library not found (CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)";
  EXPECT_EQ(print_clocks(absent, {}),
            "no clocks of the candidate: cuLibraryLoadData of 1263 bytes: PTX JIT compiler library not found (CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)\n");
  ClocksOutcome hung;
  hung.rejection = Rejection{Reason::run_timeout, 10.1, 10, "a call did not end: time-out: 10.1 s of 10 s"};
  EXPECT_EQ(print_clocks(hung, absent).substr(0, 88), "no clocks of the candidate: run_timeout: a call did not end: time-out: 10.1 s of 10 s\nno");
  EXPECT_EQ(clocks_json(hung)["absent"], "a call did not end: time-out: 10.1 s of 10 s");
}

}  // namespace
}  // namespace kiln::autotune::cli
