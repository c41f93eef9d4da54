// Conversions that a GPU makes in one instruction and an algorithm writes out in integer operations: found before an expression is printed.
#pragma once

#include <string_view>

#include "dsl/expression.h"

namespace kiln::generators::cuda {

// The call that stands for an encoding into E4M3, a u8 of one f32; no function of an algorithm has such a name.
inline constexpr std::string_view kEncodeE4M3 = "kiln.encode_e4m3";

// The expression, each whole encoding into E4M3 in it as that call. What differs from dsl/float8_halide.h's in anything stays as it is, and so does
// E5M2.
ExpressionPtr with_conversions(const ExpressionPtr& expression);

// Of an expression that is an encoding into E4M3 and nothing else: the f32 that it rounds. Null for every other.
ExpressionPtr before_e4m3(const Expression& expression);

}  // namespace kiln::generators::cuda
