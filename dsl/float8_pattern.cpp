// The two expressions of dsl/float8_halide.h as texts with a hole, `value`, and numbers that follow from the format. Whoever changes those changes these:
// the tests read what generators make of them.

#include "dsl/float8_pattern.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace kiln {
namespace {

// Names as in encode_float8. 0x7fffffff: the bits without the sign; 0x7fffff: the mantissa of an f32; 0x7f800000: infinity.
constexpr std::string_view kEncode =
    "(let u8 bits (reinterpret u32 (variable f32 value)) "
    "(let u8 magnitude (call u32 bitwise_and (variable u32 bits) (constant u32 2147483647)) "
    "(let u8 exponent (call u32 shift_right (variable u32 magnitude) (constant u32 23)) "
    "(let u8 significand (call u32 bitwise_or (call u32 bitwise_and (variable u32 magnitude) (constant u32 8388607)) (constant u32 8388608)) "
    "(let u8 lost (sub u32 (constant u32 {smallest}) (min u32 (variable u32 exponent) (constant u32 {smallest}))) "
    "(let u8 shift (add u32 (constant u32 {dropped}) (min u32 (variable u32 lost) (constant u32 {most_lost}))) "
    "(let u8 is_odd (call u32 bitwise_and (call u32 shift_right (variable u32 significand) (variable u32 shift)) (constant u32 1)) "
    "(let u8 below_half (sub u32 (call u32 shift_left (constant u32 1) (sub u32 (variable u32 shift) (constant u32 1))) (constant u32 1)) "
    "(let u8 sum (add u32 (add u32 (variable u32 significand) (variable u32 below_half)) (variable u32 is_odd)) "
    "(let u8 rounded (call u32 shift_right (variable u32 sum) (variable u32 shift)) "
    "(let u8 binade (sub u32 (max u32 (variable u32 exponent) (constant u32 {smallest})) (constant u32 {smallest})) "
    "(let u8 code (add u32 (call u32 shift_left (variable u32 binade) (constant u32 {mantissa})) (variable u32 rounded)) "
    "(let u8 sign (call u32 bitwise_and (call u32 shift_right (variable u32 bits) (constant u32 24)) (constant u32 128)) "
    "(let u8 with_sign (call u32 bitwise_or (min u32 (variable u32 code) (constant u32 {largest})) (variable u32 sign)) "
    "(let u8 is_nan (gt bool (variable u32 magnitude) (constant u32 2139095040)) "
    "(cast u8 (select u32 (variable bool is_nan) (constant u32 {nan}) (variable u32 with_sign)))"
    ")))))))))))))))";

// Names as in decode_float8. 0x7fc00000: a NaN.
constexpr std::string_view kDecode =
    "(let f32 wide (cast u32 (variable u8 value)) "
    "(let f32 magnitude (call u32 bitwise_and (variable u32 wide) (constant u32 127)) "
    "(let f32 normal (add u32 (call u32 shift_left (variable u32 magnitude) (constant u32 {dropped})) (constant u32 {bias})) "
    "(let f32 subnormal (reinterpret u32 (mul f32 (cast f32 (cast i32 (variable u32 magnitude))) (constant f32 {step}))) "
    "(let f32 finite (select u32 (lt bool (variable u32 magnitude) (constant u32 {first_normal})) (variable u32 subnormal) (variable u32 normal)) "
    "(let f32 number (select u32 (gt bool (variable u32 magnitude) (constant u32 {largest})) (constant u32 2143289344) (variable u32 finite)) "
    "(let f32 sign (call u32 shift_left (call u32 bitwise_and (variable u32 wide) (constant u32 128)) (constant u32 24)) "
    "(reinterpret f32 (call u32 bitwise_or {number} (variable u32 sign)))"
    ")))))))";
constexpr std::string_view kNumber = "(variable u32 number)";
constexpr std::string_view kNumberOrInfinity =
    "(select u32 (eq bool (variable u32 magnitude) (constant u32 {infinity})) (constant u32 2139095040) (variable u32 number))";

struct Pattern {
  Float8 format;
  ExpressionPtr tree;  // its one variable left is the hole
};
using Patterns = std::array<Pattern, 2>;

Pattern encoding(const Float8& format) {
  using fmt::arg;
  const int mantissa = format.mantissa_bits;
  return {format, without_lets(parse_expression(fmt::format(fmt::runtime(kEncode), arg("mantissa", mantissa), arg("dropped", 23 - mantissa),
                                                            arg("most_lost", mantissa + 2), arg("smallest", 128 - format.exponent_bias),
                                                            arg("largest", format.largest), arg("nan", kFloat8Nan))))};
}

Pattern decoding(const Float8& format) {
  using fmt::arg;
  const int mantissa = format.mantissa_bits, bias = format.exponent_bias;
  const std::string number = format.has_infinity ? fmt::format(fmt::runtime(kNumberOrInfinity), arg("infinity", format.largest + 1)) : std::string(kNumber);
  return {format, without_lets(parse_expression(fmt::format(fmt::runtime(kDecode), arg("dropped", 23 - mantissa), arg("bias", (127 - bias) << 23),
                                                            arg("step", std::ldexp(1.0f, 1 - bias - mantissa)), arg("first_normal", 1 << mantissa),
                                                            arg("largest", format.largest), arg("number", number))))};
}

// Whether `found` is the pattern with the same expression in every place of the hole, which the first place fills.
bool unify(const Expression& pattern, const ExpressionPtr& found, ExpressionPtr& hole) {
  if (pattern.op == Op::variable) {
    if (!hole && found->type == pattern.type) hole = found;
    return hole && equal(*hole, *found);
  }
  if (pattern.op != found->op || pattern.type != found->type || pattern.name != found->name || pattern.value != found->value ||
      pattern.args.size() != found->args.size())
    return false;
  for (std::size_t i = 0; i < pattern.args.size(); ++i)
    if (!unify(*pattern.args[i], found->args[i], hole)) return false;
  return true;
}

std::optional<Float8Match> match(const Patterns& patterns, const Expression& expression) {
  const ExpressionPtr found = without_lets(std::make_shared<const Expression>(expression));
  for (const Pattern& pattern : patterns) {
    ExpressionPtr hole;
    if (unify(*pattern.tree, found, hole)) return Float8Match{pattern.format, hole};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Float8Match> match_encode_float8(const Expression& expression) {
  static const Patterns kPatterns{encoding(kE4M3FN), encoding(kE5M2)};
  return match(kPatterns, expression);
}

std::optional<Float8Match> match_decode_float8(const Expression& expression) {
  static const Patterns kPatterns{decoding(kE4M3FN), decoding(kE5M2)};
  return match(kPatterns, expression);
}

}  // namespace kiln
