// Boxes of outputs, and the memory around a call.
#include "autotune/worker/truth.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "autotune/measure/inputs.h"
#include "autotune/worker/guarded_buffer.h"
#include "autotune/worker/health.h"

namespace kiln::autotune {
namespace {

TEST(GuardedBuffer, lies_on_its_alignment_and_on_nothing_larger) {
  for (const std::size_t alignment : {1U, 4U, 64U, 128U, 4096U}) {
    const GuardedBuffer buffer(1000, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (2 * alignment), alignment);
  }
}

TEST(GuardedBuffer, shows_writes_before_and_after_it) {
  const GuardedBuffer buffer(100, 64);
  buffer.fill(std::byte{1});
  EXPECT_EQ(buffer.damaged_guard_bytes(), 0U);
  buffer.data()[-1] = std::byte{0};
  EXPECT_EQ(buffer.damaged_guard_bytes(), 1U);
  std::memset(buffer.data() + 100, 0, 4);
  EXPECT_EQ(buffer.damaged_guard_bytes(), 5U);
}

TEST(Health, is_good_here) { EXPECT_EQ(find_health_complaint(2), ""); }

// A function of one output y(x, z) of f32, nothing else.
struct OneOutput {
  explicit OneOutput(std::vector<std::int64_t> extents) {
    Argument y;
    y.name = "y";
    y.is_output = true;
    y.rank = static_cast<int>(extents.size());
    algorithm.arguments = {y};
    inputs.extents = {std::move(extents)};
    inputs.bytes = {{}};
  }
  Algorithm algorithm;
  Inputs inputs;
};

TEST(OutputTiles, lie_within_the_output_and_reach_its_corners) {
  const OneOutput one({1000, 300, 5});
  const Truth truth = output_tiles(one.algorithm, one.inputs, 1);
  ASSERT_EQ(truth.size(), 1U);
  EXPECT_FALSE(truth[0].whole);
  ASSERT_EQ(truth[0].patches.size(), 64U);
  bool first = false, last = false;
  for (const Patch& patch : truth[0].patches) {
    EXPECT_EQ(patch.extents, (std::vector<std::int64_t>{32, 32, 1}));
    EXPECT_EQ(patch.bytes.size(), 32U * 32U * sizeof(double));
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_GE(patch.mins[d], 0);
      EXPECT_LE(patch.mins[d] + patch.extents[d], one.inputs.extents[0][d]);
    }
    first = first || patch.mins == std::vector<std::int64_t>{0, 0, 0};
    last = last || patch.mins == std::vector<std::int64_t>{968, 268, 4};
  }
  EXPECT_TRUE(first && last);
}

TEST(OutputTiles, of_a_small_output_are_the_output) {
  const OneOutput one({7, 1});
  const Truth truth = output_tiles(one.algorithm, one.inputs, 1);
  for (const Patch& patch : truth[0].patches) {
    EXPECT_EQ(patch.mins, (std::vector<std::int64_t>{0, 0}));
    EXPECT_EQ(patch.extents, (std::vector<std::int64_t>{7, 1}));
  }
}

// What the output should be, as a function of the place.
double right(const std::vector<std::int64_t>& index) { return static_cast<double>(index[0]) + 1000.0 * static_cast<double>(index[1]); }

class Tiles : public ::testing::Test {
 protected:
  Tiles() : one({200, 100}), truth(output_tiles(one.algorithm, one.inputs, 3)), output(200 * 100 * sizeof(float)) {
    for (Patch& patch : truth[0].patches)
      for (std::int64_t z = 0, i = 0; z < patch.extents[1]; ++z)
        for (std::int64_t x = 0; x < patch.extents[0]; ++x, ++i)
          store_element(patch.bytes.data() + static_cast<std::size_t>(i) * sizeof(double), kFloat64, right({patch.mins[0] + x, patch.mins[1] + z}));
    for (std::int64_t z = 0; z < 100; ++z)
      for (std::int64_t x = 0; x < 200; ++x) set(x, z, right({x, z}));
  }
  void set(std::int64_t x, std::int64_t z, double value) {
    store_element(output.data() + static_cast<std::size_t>(z * 200 + x) * sizeof(float), kFloat32, value);
  }
  Comparison compared() const { return compare(OutputView{output.data(), kFloat32, {200, 100}}, truth[0], {.relative = 1e-6}); }

  OneOutput one;
  Truth truth;
  std::vector<std::byte> output;
};

TEST_F(Tiles, compare_equal_to_a_right_output) { EXPECT_TRUE(compared().passes); }

TEST_F(Tiles, name_a_wrong_element_by_its_place_in_the_whole_output) {
  set(199, 99, -5);
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.passes);
  EXPECT_EQ(comparison.worst->index, (std::vector<std::int64_t>{199, 99}));
  EXPECT_EQ(comparison.worst->expected, right({199, 99}));
}

TEST_F(Tiles, come_back_from_a_file_and_refuse_a_damaged_one) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("kiln-truth-" + std::to_string(::getpid()));
  save(truth, path);
  Truth other = output_tiles(one.algorithm, one.inputs, 3);
  ASSERT_TRUE(load(other, path));
  EXPECT_EQ(other[0].patches[5].bytes, truth[0].patches[5].bytes);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_FALSE(load(other, path));
  std::filesystem::remove(path);
  EXPECT_FALSE(load(other, path));
}

}  // namespace
}  // namespace kiln::autotune
