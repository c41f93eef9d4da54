#include "generators/cuda/driver/tensor_map.h"

#include <fmt/format.h>

#include <array>

namespace kiln::generators::cuda::driver {
namespace {

// CUtensorMapDataType. Integers of 8 and 16 bits are copied as they are, whatever their sign.
int type_number(DType type) {
  switch (type.kind) {
    case TypeClass::brain_float:
      if (type.bits == 16) return 9;
      break;
    case TypeClass::ieee_float:
      if (type.bits == 16) return 6;
      if (type.bits == 32) return 7;
      if (type.bits == 64) return 8;
      break;
    case TypeClass::signed_int:
    case TypeClass::unsigned_int: {
      const bool is_signed = type.kind == TypeClass::signed_int;
      if (type.bits == 8) return 0;
      if (type.bits == 16) return 1;
      if (type.bits == 32) return is_signed ? 3 : 2;
      if (type.bits == 64) return is_signed ? 5 : 4;
      break;
    }
  }
  throw UsageError(fmt::format("a tensor copy has no elements of type {}", print(type)));
}

// The driver's number of a choice of bytes is its place.
int place_of(int bytes, const std::array<int, 4>& choices, const char* what) {
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (choices[i] == bytes) return static_cast<int>(i);
  throw UsageError(fmt::format("a tensor copy has no {} of {} bytes; there are {}, {}, {} and {}", what, bytes, choices[0], choices[1], choices[2],
                               choices[3]));
}

}  // namespace

TensorMap encode(const Driver& driver, const TiledTensor& tensor) {
  KILN_CHECK(tensor.box.size() == tensor.extents.size() && tensor.pitches_bytes.size() + 1 == tensor.extents.size(), "a tensor without all its dimensions");
  constexpr int kNoInterleave = 0, kFillWithZeros = 0;
  const std::vector<std::uint32_t> steps(tensor.box.size(), 1);
  TensorMap map{};
  driver.check(driver.api().encode_tiled(map.bytes, type_number(tensor.type), static_cast<unsigned>(tensor.extents.size()),
                                         reinterpret_cast<void*>(tensor.address), tensor.extents.data(), tensor.pitches_bytes.data(), tensor.box.data(),
                                         steps.data(), kNoInterleave, place_of(tensor.swizzle_bytes, {0, 32, 64, 128}, "swizzle"),
                                         place_of(tensor.l2_promotion_bytes, {0, 64, 128, 256}, "L2 promotion"), kFillWithZeros),
               "cuTensorMapEncodeTiled");
  return map;
}

}  // namespace kiln::generators::cuda::driver
