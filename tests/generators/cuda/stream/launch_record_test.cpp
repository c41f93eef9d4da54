// What a cubin's callers are told: formulas that give the plan's numbers, guards, a text that parses back.
#include "generators/cuda/launch_record.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/image.h"
#include "tests/autotune/cli/golden.h"
#include "tests/generators/cuda/stream/algorithms.h"
#include "tests/generators/cuda/stream/lowered.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;

const char* const kNorm = "y.rows(2, 64).vector(8).dependent_launch()\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
const char* const kTwoKernels = "squares.compute_root().rows(1, 128)\ny.rows(1, 128).fix(n)\nscale.compute_at(y, m)\n";
const char* const kFlat = "y.fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\n";
const char* const kTurned = "y.tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).tile(ni, mi, nt, mt, nv, mv, 4, 4).gpu_blocks(no, mo).gpu_threads(nt, mt).vectorize(nv).unroll(mv)\n";

std::vector<Lowered> all() {
  std::vector<Lowered> result;
  result.emplace_back(norm(), "norm(m=5, n=1000)", kNorm);
  result.emplace_back(norm(), "norm(m=5, n=512)", kTwoKernels);
  result.emplace_back(gate(), "gate(m=13, n=1001)", kFlat);
  result.emplace_back(shares(), "shares(m=3, n=2040)", "y.rows(1, 128).vector(4).cluster(4)\ntotal.compute_at(y, m)\npeak.compute_at(y, m)\n");
  result.emplace_back(turn(), "turn(m=100, n=200)", kTurned);
  return result;
}

TEST(LaunchRecord, prints_and_parses_back) {
  for (const Lowered& one : all()) EXPECT_EQ(cuda::parse_launch_record(print(one.record)), one.record);
}

TEST(LaunchRecord, says_what_it_asks_of_an_extent) {
  const Lowered turned(turn(), "turn(m=100, n=200)", kTurned), fixed(norm(), "norm(m=5, n=512)", kTwoKernels);
  const auto asked = [](const Lowered& one, const char* symbol) { return cuda::guard_of(one.record, one.algorithm.symbols.at(symbol)); };
  EXPECT_EQ(asked(turned, "m").multiple, 4) << "rows of f32 are read 16 bytes at a time";
  EXPECT_EQ(asked(fixed, "n").exactly, 512);
  EXPECT_EQ(asked(fixed, "m"), cuda::LaunchGuard{});
}

TEST(LaunchRecord, formulas_give_the_numbers_of_the_plan) {
  for (const Lowered& one : all()) {
    ASSERT_EQ(one.record.kernels.size(), one.program.kernels.size());
    for (std::size_t i = 0; i < one.record.kernels.size(); ++i) {
      const cuda::StreamPlan& plan = *one.program.kernels[i].plan.stream();
      EXPECT_EQ(cuda::blocks(one.record.kernels[i], one.extents(), 132), plan.blocks());
      EXPECT_EQ(one.record.kernels[i].shared_bytes, plan.shared_bytes());
      EXPECT_EQ(one.record.kernels[i].threads, plan.threads);
    }
    for (std::size_t i = 0; i < one.record.intermediates.size(); ++i)
      EXPECT_EQ(cuda::bytes(one.record.intermediates[i], one.extents()), one.program.intermediates[i].bytes());
    EXPECT_EQ(cuda::find_unmet(one.record, one.extents()), std::nullopt);
  }
}

TEST(LaunchRecord, of_two_kernels_is_the_golden) { expect_golden(print(Lowered(norm(), "norm(m=5, n=512)", kTwoKernels).record) + "\n", "cuda/launch_record.json"); }

TEST(LaunchRecord, guards_say_which_length_is_wrong_and_what_would_do) {
  const Lowered free(norm(), "norm(m=5, n=1000)", kNorm), fixed(norm(), "norm(m=5, n=512)", kTwoKernels);
  const auto with_columns = [](std::int64_t columns) { return [columns](const Axis& place) { return place.dimension == 0 ? columns : std::int64_t{5}; }; };
  EXPECT_EQ(cuda::find_unmet(free.record, with_columns(1001)), "y.0 is 1001, no multiple of 8");
  EXPECT_EQ(cuda::find_unmet(free.record, with_columns(1024)), std::nullopt);
  EXPECT_EQ(cuda::find_unmet(free.record, with_columns(1032)), "y.0 is 1032, more than the 1024 that its threads cover");
  EXPECT_EQ(cuda::find_unmet(fixed.record, with_columns(504)), "y.0 is 504, and the kernel is for 512");
}

TEST(LaunchRecord, a_damaged_text_is_an_error) {
  EXPECT_THROW(cuda::parse_launch_record("{}"), DataError);
  EXPECT_THROW(cuda::parse_launch_record("{\"kernels\":"), DataError);
}

std::string complaint_about(const std::string& image) {
  try {
    cuda::unpack(image);
    return "";
  } catch (const DataError& error) {
    return error.what();
  }
}

TEST(Image, unpacks_to_what_was_packed) {
  for (const Lowered& one : all()) {
    const cuda::Image image{std::string("\x7f" "ELF\0kiln-gpu", 13), one.record};
    EXPECT_EQ(cuda::unpack(pack(image)), image);
  }
}

TEST(Image, says_what_is_wrong_with_other_bytes) {
  EXPECT_EQ(complaint_about(""), "0 bytes are no image of a GPU: they do not end in kiln-gpu");
  EXPECT_EQ(complaint_about("an object of a CPU"), "18 bytes are no image of a GPU: they do not end in kiln-gpu");
  EXPECT_EQ(complaint_about("{}00000003kiln-gpu"), "an image of 18 bytes cannot end in a launch record of `00000003` bytes");
  EXPECT_EQ(complaint_about("{}0000000xkiln-gpu"), "an image of 18 bytes cannot end in a launch record of `0000000x` bytes");
  EXPECT_NE(complaint_about("{}00000002kiln-gpu"), "");
}

}  // namespace
}  // namespace kiln::tests
