// Tensor maps as the emulating prelude reads them: the tile of a row-major matrix that one TMA instruction moves.
#pragma once

#include <cstdint>

namespace kiln::generators::cuda::emulator {

enum class Swizzle : std::uint8_t { none, b32, b64, b128 };  // 16 << swizzle bytes a row of the pattern

struct TensorMap2d {
  void* base = nullptr;
  std::uint64_t inner = 0, outer = 0, pitch_bytes = 0;  // elements of a row, rows, bytes from row to row
  std::uint32_t box_inner = 0, box_outer = 0, element_bytes = 0;
  Swizzle swizzle = Swizzle::none;

  std::uint32_t box_bytes() const { return box_inner * box_outer * element_bytes; }
};

// As opaque as a CUtensorMap; a kernel takes it as `const __grid_constant__ TensorMap`.
struct alignas(64) EncodedMap {
  char bytes[128];
};

// Throws std::invalid_argument where cuTensorMapEncodeTiled refuses, with both numbers.
EncodedMap encode(const TensorMap2d& map);
TensorMap2d decode(const EncodedMap& map);

// TMA and wgmma swizzle by address: the number of the 16-byte chunk is xor-ed with address bits 7 and up.
std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle);

}  // namespace kiln::generators::cuda::emulator
