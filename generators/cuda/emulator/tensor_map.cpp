#include "generators/cuda/emulator/tensor_map.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace kiln::generators::cuda::emulator {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument("tensor map: " + what);
}

std::string text(std::uint64_t number) { return std::to_string(number); }

void check_box(std::uint32_t elements, const char* dimension) {
  require(elements >= 1 && elements <= 256, "a box has 1 to 256 elements a dimension, not " + text(elements) + " in the " + dimension);
}

}  // namespace

EncodedMap encode(const TensorMap2d& map) {
  const std::uint32_t row_bytes = map.box_inner * map.element_bytes, span = 16u << static_cast<int>(map.swizzle);
  require(reinterpret_cast<std::uintptr_t>(map.base) % 16 == 0, "the global address must be a multiple of 16");
  require(map.pitch_bytes % 16 == 0 && map.pitch_bytes < 1ull << 40, "the pitch must be a multiple of 16 bytes below 2^40, not " + text(map.pitch_bytes));
  check_box(map.box_inner, "inner");
  check_box(map.box_outer, "outer");
  require(row_bytes % 16 == 0, "a box row must be a multiple of 16 bytes, not " + text(row_bytes));
  require(map.swizzle == Swizzle::none || row_bytes <= span, "a box row of " + text(row_bytes) + " bytes is longer than the swizzle's " + text(span));
  EncodedMap encoded{};
  static_assert(sizeof map <= sizeof encoded);
  std::memcpy(encoded.bytes, &map, sizeof map);
  return encoded;
}

TensorMap2d decode(const EncodedMap& encoded) {
  TensorMap2d map;
  std::memcpy(&map, encoded.bytes, sizeof map);
  return map;
}

std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle) {
  const std::uint32_t rows = (1u << static_cast<int>(swizzle)) - 1;
  return address ^ (address >> 7 & rows) << 4;
}

}  // namespace kiln::generators::cuda::emulator
