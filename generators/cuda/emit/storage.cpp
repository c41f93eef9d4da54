#include "generators/cuda/emit/storage.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "generators/cuda/emit/expression.h"

namespace kiln::generators::cuda {
namespace {

// "bf16", "f16"; empty for every other type.
std::string short_float(DType type) {
  if (!type.is_float() || type.bits != 16) return {};
  return type.kind == TypeClass::brain_float ? "bf16" : "f16";
}

}  // namespace

Storage storage_of(DType type) {
  if (const std::string name = short_float(type); !name.empty()) return {"u16", name + "_at", "put_" + name};
  if (type == kFloat32) return {"float", "f32_at", "put_f32"};
  KILN_CHECK(!type.is_float() && type.bits >= 8 && type.bits <= 32, "an element type without storage: " + print(type));
  const char letter = type.kind == TypeClass::signed_int ? 'i' : 'u';
  return {std::string(value_type(type)), fmt::format("{}{}_at", letter, type.bits), fmt::format("put_{}", type.bits)};
}

std::string read_one(DType type, const std::string& stored) {
  const std::string name = short_float(type);
  return name.empty() ? stored : fmt::format("{}_lo({})", name, stored);
}

std::string stored_e4m3(const std::string& value) { return fmt::format("(u8)pack_e4m3({}, 0.0f)", value); }

std::string stored_one(DType type, const std::string& value) {
  const std::string name = short_float(type);
  return name.empty() ? value : fmt::format("(u16)pack_{}({}, 0.0f)", name, value);
}

}  // namespace kiln::generators::cuda
