#include "dsl/dtype.h"

#include <array>
#include <utility>

namespace kiln {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 13> kTypes{{
    {"bool", kBool},
    {"i8", {TypeClass::signed_int, 8}},
    {"i16", {TypeClass::signed_int, 16}},
    {"i32", kInt32},
    {"i64", {TypeClass::signed_int, 64}},
    {"u8", {TypeClass::unsigned_int, 8}},
    {"u16", {TypeClass::unsigned_int, 16}},
    {"u32", {TypeClass::unsigned_int, 32}},
    {"u64", {TypeClass::unsigned_int, 64}},
    {"f16", {TypeClass::ieee_float, 16}},
    {"bf16", {TypeClass::brain_float, 16}},
    {"f32", kFloat32},
    {"f64", kFloat64},
}};

}  // namespace

double DType::epsilon() const {
  if (kind == TypeClass::brain_float) return 0x1p-7;
  if (kind != TypeClass::ieee_float) return 0;
  return bits == 16 ? 0x1p-10 : bits == 32 ? 0x1p-23 : 0x1p-52;
}

std::string print(DType type) {
  for (const auto& [name, known] : kTypes)
    if (known == type) return std::string(name);
  // Halide allows odd widths such as int5; they print by the same rule.
  const char* prefix = type.kind == TypeClass::signed_int ? "i" : type.kind == TypeClass::unsigned_int ? "u" : "f";
  return prefix + std::to_string(type.bits);
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (const auto& [name, known] : kTypes)
    if (name == text) return known;
  return std::nullopt;
}

}  // namespace kiln
