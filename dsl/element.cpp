#include "dsl/element.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace kiln {
namespace {

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

}  // namespace kiln
