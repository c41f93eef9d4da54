// Elements of the types that operators take: drawn, and as doubles.
#pragma once

#include <Halide.h>

#include <cstddef>
#include <random>
#include <vector>

namespace kiln::tests {

template <typename T>
std::vector<T> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(T(normal(random)));
  return values;
}

inline double widened(float value) { return static_cast<double>(value); }
inline double widened(Halide::float16_t value) { return static_cast<double>(static_cast<float>(value)); }
inline double widened(Halide::bfloat16_t value) { return static_cast<double>(static_cast<float>(value)); }

// A type as problems write it, and what one rounding to it may change, as a share of the number: half a step behind the last bit, and f32's own error.
template <typename T>
struct Element;
template <>
struct Element<float> {
  static constexpr const char* kName = "f32";
  static constexpr double kRounding = 1e-6;
};
template <>
struct Element<Halide::float16_t> {
  static constexpr const char* kName = "f16";
  static constexpr double kRounding = 0x1.01p-11;
};
template <>
struct Element<Halide::bfloat16_t> {
  static constexpr const char* kName = "bf16";
  static constexpr double kRounding = 0x1.01p-8;
};

}  // namespace kiln::tests
