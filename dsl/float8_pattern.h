// Where an algorithm encodes into an 8-bit float or decodes from one: the expressions of dsl/float8_halide.h, found again in what a stage computes. A
// back end whose hardware converts in one instruction asks here.
#pragma once

#include <optional>

#include "dsl/expression.h"
#include "dsl/float8.h"

namespace kiln {

struct Float8Match {
  Float8 format;
  ExpressionPtr value;  // of an encoding the f32 that is rounded, a bf16 or f16 in its exact cast; of a decoding the code, a u8
};

// Nothing when the expression is not all of an encoding, or of a decoding. Its own lets do not matter; what is only a part of a larger expression with
// lets is found once that one is written out: see without_lets.
std::optional<Float8Match> match_encode_float8(const Expression& expression);
std::optional<Float8Match> match_decode_float8(const Expression& expression);

}  // namespace kiln
