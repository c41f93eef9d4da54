// Random inputs and 8- and 16-bit floats of the tests' own: the judge shares no code with what it judges.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "generators/cuda/emulator/memory.h"

namespace kiln::generators::cuda::emulator {

inline float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline std::uint32_t to_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

inline float from_bf16(std::uint16_t value) { return from_bits(std::uint32_t{value} << 16); }

inline std::uint16_t to_bf16(float value) {
  const std::uint32_t bits = to_bits(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

inline float from_e4m3(std::uint8_t value) {
  const int exponent = value >> 3 & 15, fraction = value & 7;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9) : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (value & 0x80) != 0 ? -magnitude : magnitude;
}

inline std::vector<std::uint16_t> random_bf16(std::size_t count, float scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& value : values) value = to_bf16(normal(random) * scale);
  return values;
}

template <class T>
T* input(Memory& memory, const std::string& name, const std::vector<T>& values, Memory::Use use = Memory::Use::input) {
  T* const buffer = static_cast<T*>(memory.allocate(name, values.size() * sizeof(T), use));
  std::copy(values.begin(), values.end(), buffer);
  return buffer;
}

template <class T>
T* output(Memory& memory, const std::string& name, std::size_t count, Memory::Use use = Memory::Use::output) {
  return static_cast<T*>(memory.allocate(name, count * sizeof(T), use));
}

}  // namespace kiln::generators::cuda::emulator
