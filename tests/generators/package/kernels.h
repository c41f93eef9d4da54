// A small kernel set with real objects, compiled by Halide here and now: what the tests of writing, opening and installing packages write.
#pragma once

#include <string>

#include "generators/package/kernel_set.h"

namespace kiln::tests {

// Entries:
//   matmul  C = silu(A·B), f32, symbols m n k. Variants: 0 exact m=64 n=64 k=32 (AVX2, addresses multiples of 32); 1 bucket m 1..128, n 32..256,
//           k 1..4096 (AVX2, ShiftInwards tiles of 32 columns); 2 generic for x86-64-v2.
//   axpb    y = a·x + b, f32, scalar a, pointwise, symbol n. One generic variant.
//   blur    i16: out(x,y) = in(x,y) + in(x+1,y) + in(x+2,y), and total(x) = the sum of out over y. Symbols w h of the outputs. One generic variant.
generators::package::KernelSet small_kernel_set(const std::string& name);

}  // namespace kiln::tests
