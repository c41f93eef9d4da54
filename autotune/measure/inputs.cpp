#include "autotune/measure/inputs.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "autotune/measure/in_parallel.h"
#include "dsl/element.h"
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

}  // namespace

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
