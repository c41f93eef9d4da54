#include "generators/host/call.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "generators/host/host.h"
#include "generators/host/loaded.h"
#include "tests/generators/host/built_matmul.h"

namespace kiln::generators::host {
namespace {

using Regions = std::vector<std::vector<Interval>>;

Loaded product_with(Halide::TailStrategy tail) {
  Matmul matmul;
  matmul.y.split(matmul.n, matmul.no, matmul.ni, 64, tail).vectorize(matmul.ni, 16);
  return Loaded(compiled(matmul.pipeline(), target_string(probe_cpu(), Isa::native, Contract::bounded)));
}

std::vector<std::vector<std::int64_t>> extents(std::int64_t m, std::int64_t n, std::int64_t k) {
  return extents_of(matmul_algorithm(), matmul_problem(m, n, k));
}

TEST(Call, extents_follow_the_symbols_of_the_problem) {
  EXPECT_EQ(extents(3, 5, 7), (std::vector<std::vector<std::int64_t>>{{7, 3}, {5, 7}, {5, 3}}));
}

TEST(Call, buffers_are_dense_with_the_innermost_dimension_first) {
  float a = 0, b = 0, y = 0;
  Call call(matmul_algorithm(), extents(3, 5, 7), {&a, &b, &y});
  const halide_buffer_t& buffer = call.buffer(0);
  EXPECT_EQ(buffer.host, reinterpret_cast<std::uint8_t*>(&a));
  EXPECT_EQ(buffer.type, halide_type_t(halide_type_float, 32));
  ASSERT_EQ(buffer.dimensions, 2);
  EXPECT_EQ(buffer.dim[0], halide_dimension_t(0, 7, 1));
  EXPECT_EQ(buffer.dim[1], halide_dimension_t(0, 3, 7));
  EXPECT_EQ(call.argv()[0], &buffer);
}

TEST(Call, a_reference_writes_its_floats_as_f64) {
  EXPECT_EQ(reference_types(matmul_algorithm()), (std::vector<DType>{kFloat32, kFloat32, kFloat64}));
  float a = 0, b = 0;
  double y = 0;
  Call call(matmul_algorithm(), extents(1, 1, 1), {&a, &b, &y}, reference_types(matmul_algorithm()));
  EXPECT_EQ(call.buffer(2).type, halide_type_t(halide_type_float, 64));
}

TEST(Call, an_extent_beyond_32_bits_is_refused_with_both_numbers) {
  try {
    Call call(matmul_algorithm(), extents(3, 3000000000, 7), {nullptr, nullptr, nullptr});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "the extent of B.0 is 3000000000; Halide's buffers count in 32 bits, up to 2147483647");
  }
}

TEST(Call, scalars_are_rounded_to_their_type) {
  std::uint64_t memory = 0;
  store_scalar({TypeClass::ieee_float, 32}, 1.5, &memory);
  EXPECT_EQ(memory, 0x3FC00000u);
  memory = 0;
  store_scalar({TypeClass::ieee_float, 16}, 1.5, &memory);
  EXPECT_EQ(memory, 0x3E00u);
  memory = 0;
  store_scalar({TypeClass::brain_float, 16}, 1.5, &memory);
  EXPECT_EQ(memory, 0x3FC0u);
  store_scalar({TypeClass::signed_int, 8}, -2, &memory);
  EXPECT_EQ(static_cast<std::int8_t>(memory), -2);
}

TEST(RequiredRegions, shift_inwards_asks_for_what_lies_before_a_small_buffer) {
  const Loaded build = product_with(Halide::TailStrategy::ShiftInwards);
  const Regions regions = required_regions(build, matmul_algorithm(), extents(8, 40, 16));
  EXPECT_EQ(regions[2][0], (Interval{-24, 64}));
  EXPECT_EQ(find_shortfall(regions, matmul_algorithm(), extents(8, 40, 16)), "input B needs to start at -24 in dimension 0, starts at 0");
  EXPECT_EQ(find_shortfall(required_regions(build, matmul_algorithm(), extents(8, 65, 16)), matmul_algorithm(), extents(8, 65, 16)), std::nullopt);
}

TEST(RequiredRegions, guard_with_if_asks_for_the_buffer_alone) {
  const Regions regions = required_regions(product_with(Halide::TailStrategy::GuardWithIf), matmul_algorithm(), extents(8, 40, 16));
  EXPECT_EQ(regions[0], (std::vector<Interval>{{0, 16}, {0, 8}}));
  EXPECT_EQ(regions[1], (std::vector<Interval>{{0, 40}, {0, 16}}));
  EXPECT_EQ(regions[2], (std::vector<Interval>{{0, 40}, {0, 8}}));
}

TEST(RequiredRegions, round_up_asks_for_what_lies_behind_an_output) {
  const Regions regions = required_regions(product_with(Halide::TailStrategy::RoundUp), matmul_algorithm(), extents(8, 130, 16));
  EXPECT_EQ(find_shortfall(regions, matmul_algorithm(), extents(8, 130, 16)), "input B needs extent 192 in dimension 0, has 130");
}

}  // namespace
}  // namespace kiln::generators::host
