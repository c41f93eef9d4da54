// The operands of a wgmma in shared memory: where a descriptor says that each element lies.
#pragma once

#include <cstdint>

#include "generators/cuda/emulator/machine/machine.h"
#include "generators/cuda/emulator/tensor_map.h"

namespace kiln::generators::cuda::emulator {

inline constexpr int kWgmmaRows = 64, kWgmmaDepthBytes = 32;  // m64nNk16 of bf16, m64nNk32 of E4M3

struct Operand {
  std::uint32_t start, leading, stride;  // bytes
  Swizzle swizzle;
  bool is_mn_major;
};

// Faults: "misaligned", when the start is inside a swizzle pattern without a base offset that says so; "not emulated".
Operand read_descriptor(std::uint64_t descriptor, bool is_mn_major, const char* name);

// Window address of the element (mn, k), whose k is counted in bytes: 2 k for bf16. MN-major operands are of bf16.
std::uint32_t element_address(const Operand& operand, std::uint32_t mn, std::uint32_t k_bytes);

// Checks every 16-byte chunk of the operand, once. The fault: "out of bounds", and those of touch_read.
void touch_operand(Space& shared, const Operand& operand, std::uint32_t rows, const char* name, const Actor& actor);

// Multiplies and adds to the accumulators of the 128 threads: of 16-bit floats in float, k ascending, where the hardware's order differs; of E4M3 by the
// hardware's own rule (e4m3_sums.h).
void execute(const Space& shared, const Wgmma& wgmma);

}  // namespace kiln::generators::cuda::emulator
