// What the emulator makes of cvt.rn.satfinite.e4m3x2 is what dsl/float8.h says of E4M3: every bf16, every f32 near a tie, and a dense set of all f32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dsl/float8.h"
#include "generators/cuda/emulator/device/language.cuh"
#include "generators/cuda/emulator/device/types.cuh"
#include "generators/cuda/emulator/device/numbers.cuh"

namespace kiln::generators::cuda::emulator {
namespace {

float of_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Both places of the pair; the other one holds something else.
bool agrees(std::uint32_t bits) {
  const float value = of_bits(bits);
  const unsigned code = encode_float8(kE4M3FN, static_cast<double>(value)), other = 0x38;  // the code of 1
  return kiln_device::pack_e4m3(value, 1.0f) == (code | other << 8) && kiln_device::pack_e4m3(1.0f, value) == (other | code << 8);
}

std::vector<std::uint32_t> disagreeing(const std::vector<std::uint32_t>& all) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t bits : all)
    if (!agrees(bits) && found.size() < 8) found.push_back(bits);
  return found;
}

TEST(E4M3, of_every_bf16) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t high = 0; high < 0x10000; ++high) all.push_back(high << 16);
  EXPECT_EQ(disagreeing(all), std::vector<std::uint32_t>());
}

// The numbers themselves, the middles between neighbours, which go to the even code, and the f32 beside each; up to 480, from where on all is 448.
TEST(E4M3, of_ties_and_their_neighbours) {
  std::vector<std::uint32_t> all;
  for (int step = 0; step <= 8 * 16 + 2; ++step) {
    const double low = decode_float8(kE4M3FN, static_cast<std::uint8_t>(std::min(step, 126)));
    const double high = step < 126 ? decode_float8(kE4M3FN, static_cast<std::uint8_t>(step + 1)) : 480;
    for (const double value : {low, (low + high) / 2})
      for (int away = -4; away <= 4; ++away)
        for (const std::uint32_t sign : {0u, 0x80000000u}) {
          const std::int64_t bits = static_cast<std::int64_t>(bits_of(static_cast<float>(value))) + away;
          if (bits >= 0) all.push_back(static_cast<std::uint32_t>(bits) | sign);
        }
  }
  EXPECT_GT(all.size(), 4000u);
  EXPECT_EQ(disagreeing(all), std::vector<std::uint32_t>());
}

// Every 4,093rd f32, a prime: a million of all signs, exponents, infinities and NaNs.
TEST(E4M3, of_a_dense_set_of_f32) {
  std::vector<std::uint32_t> all;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4093) all.push_back(static_cast<std::uint32_t>(bits));
  for (const std::uint32_t bits : {0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
    all.push_back(bits);
    all.push_back(bits | 0x80000000u);
  }
  EXPECT_EQ(disagreeing(all), std::vector<std::uint32_t>());
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
