// Element types by the names users type: f32, bf16, i8, u16, bool.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

enum class TypeClass : std::uint8_t { signed_int, unsigned_int, ieee_float, brain_float };

struct DType {
  TypeClass kind = TypeClass::ieee_float;
  int bits = 32;  // 1 for bool
  auto operator<=>(const DType&) const = default;

  int bytes() const { return (bits + 7) / 8; }
  bool is_float() const { return kind == TypeClass::ieee_float || kind == TypeClass::brain_float; }
  // The distance from 1 to the next number, 0 for integers: 2^-23 for f32, 2^-10 for f16, 2^-7 for bf16.
  double epsilon() const;
};

inline constexpr DType kFloat32{TypeClass::ieee_float, 32};
inline constexpr DType kFloat64{TypeClass::ieee_float, 64};
inline constexpr DType kInt32{TypeClass::signed_int, 32};
inline constexpr DType kBool{TypeClass::unsigned_int, 1};

std::string print(DType type);                              // "f32"
std::optional<DType> parse_dtype(std::string_view text);    // nothing for a text that names no type

}  // namespace kiln
