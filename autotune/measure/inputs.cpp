#include "autotune/measure/inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include <fmt/format.h>

#include "autotune/measure/in_parallel.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): the i-th number is a function of seed and i, so every machine and thread count draws the same.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t hash_name(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }  // [0, 1)

// The i-th normal number, by Box and Muller: one of a pair, the other is thrown away for the sake of independence of position.
double normal(std::uint64_t stream, std::uint64_t i) {
  const double radius = std::sqrt(-2 * std::log(1 - unit(mix(stream ^ mix(2 * i)))));
  return radius * std::cos(2 * std::numbers::pi * unit(mix(stream ^ mix(2 * i + 1))));
}

double draw(const Argument& argument, std::uint64_t stream, std::uint64_t i) {
  const std::uint64_t bits = mix(stream ^ mix(i));
  const DType type = argument.type;
  if (!argument.values.empty()) return argument.values[(bits >> 32) % argument.values.size()];
  if (argument.range) {
    const auto [low, high] = *argument.range;
    if (type.is_float()) return low + (high - low) * unit(bits);
    return std::floor(low + (high - low + 1) * unit(bits));
  }
  if (type.is_float()) return normal(stream, i);
  if (type.bits == 1) return static_cast<double>(bits >> 63);
  if (type.bits > 16) return static_cast<double>(bits >> 54);  // 0..1023
  const double span = std::ldexp(1, type.bits);
  return std::floor(span * unit(bits)) - (type.kind == TypeClass::signed_int ? span / 2 : 0);
}

template <typename Integer>
void store_as(std::byte* at, double value) {
  const auto integer = static_cast<Integer>(value);
  std::memcpy(at, &integer, sizeof integer);
}

void store_integer(std::byte* at, DType type, double value) {
  const bool is_signed = type.kind == TypeClass::signed_int;
  switch (type.bits) {
    case 1: store_as<std::uint8_t>(at, value != 0 ? 1 : 0); return;
    case 8: is_signed ? store_as<std::int8_t>(at, value) : store_as<std::uint8_t>(at, value); return;
    case 16: is_signed ? store_as<std::int16_t>(at, value) : store_as<std::uint16_t>(at, value); return;
    case 32: is_signed ? store_as<std::int32_t>(at, value) : store_as<std::uint32_t>(at, value); return;
    default: is_signed ? store_as<std::int64_t>(at, value) : store_as<std::uint64_t>(at, value); return;
  }
}

// f32 to bf16 by round to nearest even on the upper half of the bits. NaN keeps a quiet bit.
std::uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

void store_element(std::byte* at, DType type, double value) {
  if (!type.is_float()) return store_integer(at, type, value);
  if (type.bits == 64) return store_as<double>(at, value);
  const auto narrow = static_cast<float>(value);
  if (type.bits == 32) return store_as<float>(at, value);
  if (type.kind == TypeClass::brain_float) {
    const std::uint16_t bits = bfloat_bits(narrow);
    std::memcpy(at, &bits, sizeof bits);
    return;
  }
  const auto half = static_cast<_Float16>(value);
  std::memcpy(at, &half, sizeof half);
}

void fill(std::span<std::byte> bytes, const Argument& argument, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(argument.type.bytes());
  const std::uint64_t stream = mix(seed ^ hash_name(argument.name));
  in_chunks(static_cast<std::int64_t>(bytes.size() / size), [&](std::int64_t, std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::uint64_t>(first); i < static_cast<std::uint64_t>(last); ++i)
      store_element(bytes.data() + i * size, argument.type, draw(argument, stream, i));
  });
}

double scalar_value(const Argument& argument, std::size_t choice) {
  if (!argument.values.empty()) return argument.values[choice % argument.values.size()];
  if (argument.scalar_estimate) return *argument.scalar_estimate;
  throw UsageError(fmt::format("scalar input `{0}` has no value to measure with: give it an estimate in the generator ({0}.set_estimate(…)) or "
                               "`values` in its registration",
                               argument.name));
}

}  // namespace kiln::autotune
