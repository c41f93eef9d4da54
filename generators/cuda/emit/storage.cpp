#include "generators/cuda/emit/storage.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "generators/cuda/emit/expression.h"

namespace kiln::generators::cuda {
namespace {

bool is_bfloat16(DType type) { return type.kind == TypeClass::brain_float && type.bits == 16; }

}  // namespace

Storage storage_of(DType type) {
  if (is_bfloat16(type)) return {"u16", "bf16_at", "put_bf16"};
  if (type == kFloat32) return {"float", "f32_at", "put_f32"};
  KILN_CHECK(!type.is_float() && type.bits >= 8 && type.bits <= 32, "an element type without storage: " + print(type));
  const char letter = type.kind == TypeClass::signed_int ? 'i' : 'u';
  return {std::string(value_type(type)), fmt::format("{}{}_at", letter, type.bits), fmt::format("put_{}", type.bits)};
}

std::string read_one(DType type, const std::string& stored) { return is_bfloat16(type) ? fmt::format("bf16_lo({})", stored) : stored; }

std::string stored_e4m3(const std::string& value) { return fmt::format("(u8)pack_e4m3({}, 0.0f)", value); }

std::string stored_one(DType type, const std::string& value) { return is_bfloat16(type) ? fmt::format("(u16)pack_bf16({}, 0.0f)", value) : value; }

}  // namespace kiln::generators::cuda
